// How unlike two runs are, and how much a run's error counts for another: few parameters, each with its reason in the
// preset file.
#pragma once

#include "core/base/field.h"
#include "core/evidence/measured_run.h"

namespace slipstick {

// The spread of an answer's errors that its setting lets expect, in logarithms: a sum of these.
struct Spread {
  double base = 0;     // of any answer
  double network = 0;  // per whole of the predicted time on links
  double latency = 0;  // per whole in launches and messages
  double experts = 0;  // of a mixture of experts
  double halving = 0;  // per halving of the operands below 16 bits
  double waiting = 0;  // per whole of the time waiting for other requests
};
template <>
struct Schema<Spread> {
  static const Fields fields;
};
struct Spreads {
  Spread step, memory, token, throughput, batch, first_token;
};
template <>
struct Schema<Spreads> {
  static const Fields fields;
};

// A distance is a sum of these; a run at distance d counts (1 + d/8)^-8.
struct RunDistance {
  double device = 0;                         // another device of one architecture
  double architecture = 0;                   // another architecture
  double software = 0;                       // another framework or engine
  double experts = 0;                        // dense against experts
  double kind = 0;                           // another kind of answer of one group
  double bits = 0;                           // per halving of the operands
  double devices = 0, load = 0, length = 0;  // per factor of two
  double network = 0, waiting = 0;           // per whole of the predicted time

  double few = 0;  // runs with which a source has half its say
  Spreads spread;
  double tail_below = 0;    // share of the neighbors' errors left out where the answer is less than predicted
  double tail_above = 0;    // where it is more: there the same logarithm is a longer way
  double widening = 0;      // per unit of distance to the nearest run
  double disagreement = 0;  // widening where one source speaks, half of it where two do: another may disagree with them
  double assumed = 0;       // times as wide where rules stand for a device's measured efficiencies
};
template <>
struct Schema<RunDistance> {
  static constexpr std::string_view preset_kind = "distance";
  static const Fields fields;
};

double DistanceOf(const RunSetting& a, const RunSetting& b, const RunDistance& weights);
// The spread to expect of a kind of answer in a setting; errors are compared in units of it.
double ExpectedSpread(MeasuredKind kind, const RunSetting& setting, const RunDistance& weights);

// Generated with the measured runs (measured_run.h).
const RunDistance& MeasuredDistance();

}  // namespace slipstick
