// The distance between two runs, and the weight of one run's error for the other: few parameters, each with its reason
// in the preset file.
#pragma once

#include "core/base/field.h"
#include "core/evidence/measured_run.h"

namespace slipstick {

// Expected deviation of the next publisher beyond the errors of the known ones: how much publishers differed when their
// rows, and the constants fitted to them, were left out.
struct Spread {
  LogSpread measured;    // the engine or framework was measured with this kind of model on this architecture
  LogSpread unmeasured;  // it was not measured
  LogSpread calibrated;  // one run of the same machine and software calibrated a constant
};
FIELDS_OF(Spread);
struct Spreads {
  Spread step, memory, token, throughput, batch, first_token;
  LogSpread image_or_clip;  // few runs are published: one spread, whether measured together or not
};
FIELDS_OF(Spreads);

// A distance is a sum of these; a run at distance d counts (1 + d/8)^-8.
struct RunDistance {
  double device = 0;                         // another device of the same architecture
  double architecture = 0;                   // another architecture
  double software = 0;                       // another framework or engine
  double experts = 0;                        // dense instead of experts, or the reverse
  double kind = 0;                           // another kind of answer in the same group
  double bits = 0;                           // per halving of the width of operands
  double devices = 0, load = 0, length = 0;  // per factor of two
  double network = 0, waiting = 0;           // per unit of the predicted time's share

  double few = 0;  // number of runs with which a source has half its weight
  Spreads spread;
  LogSpread repeated;     // repeated runs of one system differ by this
  double tail_below = 0;  // share of the neighbors' errors that is left out at the low end
  double tail_above = 0;  // the same at the high end, where the same logarithm is a larger difference
  double widening = 0;    // relative growth of the neighbors' range per unit of distance to the nearest run
};
template <>
struct Schema<RunDistance> {
  static constexpr std::string_view preset_kind = "distance";
  static const Fields fields;
};

double DistanceOf(const RunSetting& a, const RunSetting& b, const RunDistance& weights);
const Spread& SpreadOf(MeasuredKind kind, const Spreads& spreads);  // not for an image or clip
const LogSpread& EndsOf(MeasuredKind kind, const Spreads& spreads, bool is_measured);

// Generated together with the measured runs (measured_run.h).
const RunDistance& MeasuredDistance();

}  // namespace slipstick
