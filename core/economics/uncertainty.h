// How uncertain inputs spread into a price: seeded Monte Carlo, and a tornado chart.
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
// Every input whose band is open.
std::vector<Guess> Guesses(const CostInputs& inputs);

// Multiplies the value of one of them; of a bond yield, its loss.
void Turn(CostInputs& inputs, std::size_t guess, double factor);

struct DrawnCost {
  Dollars device;
  DollarsPerSecond device_second;
};

// Draws first … last - 1 of a run: triangular over each band, peak at the value. A draw depends on the seed and its
// number alone, so that a run may be cut into steps anywhere.
std::vector<DrawnCost> DrawOutcomes(const Cluster& cluster, const CostInputs& inputs, std::uint64_t seed, Count first,
                                    Count last);

// Inverse of the triangular distribution's cumulative share, on (low, 1, high).
double TriangularAt(const Band& band, double share);

// One input at its ends, the rest at their values; largest swing of the device hour first.
struct Swing {
  Guess guess;
  DrawnCost low, high;
};
std::vector<Swing> Tornado(const Cluster& cluster, const CostInputs& inputs);

}  // namespace slipstick
