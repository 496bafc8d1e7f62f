// Compares the user's measurements with the computed figures: which term would have to be wrong by which factor to
// explain each, and which value of a fitted parameter would.
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
// `error` is computed over measured, minus one; `factor` is the factor on the term that would explain the measurement,
// null if the term is too small; `to` is the input's value that alone explains the measurement, null if no legal value
// nearby does. `calibrated` has one input for each of at most two figures (one for all collectives): the inputs that
// move them most; null if there are none.
Answer CalibrateAnswer(std::string_view spec);

}  // namespace slipstick
