// The evidence behind an answer's interval: the published runs, how much each differs from the scenario, and what would
// narrow the interval.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The runs behind the interval of a figure ("serving.tpot_s", "training.step_time_s", …), the nearest first. Returns
// issues if the scenario has no such figure, or the figure no interval from runs. "training.typical" lists the whole
// production runs.
//
//   {"figure", "interval", "kind", "value", "low", "high", "is_far", "counted", "setting",
//    "runs": [{"id", "source", "kind", "measured", "computed", "error", "distance", "share", "here", "setting"}],
//    "differences": [{"trait", "yours", "runs": [values of the nearest] or [least, most], "widens"}],
//    "own": [{"runs", "low", "high"}]}
//
// `error`: computed over measured, minus one; `here`: the answer corrected by that run's error; `share`: the run's
// fraction of the total weight; `widens`: the part of the half-width, relative to the answer, that disappears without
// the difference; `own`: the interval if this number of runs of this same setting agreed with the computed values.
Result<Json> RunsLike(const Scenario& scenario, std::string_view figure);

}  // namespace slipstick
