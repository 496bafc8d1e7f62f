// One's own measurements against the computed figures: which term would have to be off by how much to explain each, and
// what value of a fitted parameter would.
#pragma once

#include <string_view>

#include "core/scenario/answer.h"

namespace slipstick {

// `spec`: {"request", "measured": [{"figure": "serving.tpot_s", "value": 0.021},
//                                  {"collective": {"kind", "bytes", "ranks"}, "value": …}]},
// values in base units; a collective runs on the scenario's cluster. Answers
//
//   {"measured": [{"figure" or "collective", "measured", "computed", "error",
//                  "terms": [{"path", "value", "share", "factor"}], "inputs": [{"path", "from", "to", "elasticity"}]}],
//    "calibrated": {"inputs": [{"path", "from", "to"}], "computed": [of each measurement]}}
//
// `error` is computed over measured minus one; `factor` what the term would have to be multiplied with, null where it
// is too small; `to` the value of the input that explains the measurement alone, null where no legal value near does.
// `calibrated` takes one input for each of at most two figures (of collectives, for all of them), those that move them
// most; null where none does.
Answer CalibrateAnswer(std::string_view spec);

}  // namespace slipstick
