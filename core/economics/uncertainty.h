// How uncertain inputs affect a price: seeded Monte Carlo, and a tornado chart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/economics/cost.h"

namespace slipstick {

struct Guess {
  std::string path;  // of the input
  Band band;         // around its value
};
// Every input whose band is not {1, 1}.
std::vector<Guess> Guesses(const CostInputs& inputs);

// Multiplies the value of a guess by `factor`; for a bond yield, the loss.
void Turn(CostInputs& inputs, std::size_t guess, double factor);

struct DrawnCost {
  Dollars device;
  DollarsPerSecond device_second;
};

// Computes samples first … last - 1 of a run: triangular over each band, with the peak at the value. A sample depends
// only on the seed and its number, so a run may be split into steps anywhere.
std::vector<DrawnCost> DrawOutcomes(const Cluster& cluster, const CostInputs& inputs, std::uint64_t seed, Count first,
                                    Count last);

// Inverse of the cumulative triangular distribution on (low, high) with its peak at 1.
double TriangularAt(const Band& band, double share);

// One input at its ends, the others at their values; sorted by the change of the cost per GPU-hour, largest first.
struct Swing {
  Guess guess;
  DrawnCost low, high;
};
std::vector<Swing> Tornado(const Cluster& cluster, const CostInputs& inputs);

}  // namespace slipstick
