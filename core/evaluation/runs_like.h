// What the interval of an answer rests on: the published runs, how unlike the scenario each is, and what would narrow
// it.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The runs behind the interval of a figure ("serving.tpot_s", "training.step_time_s", …), the nearest first; issues
// where the scenario has no such figure, or the figure no interval from runs. "training.typical" answers the whole
// production runs.
//
//   {"figure", "interval", "kind", "value", "low", "high", "is_far", "by_data_sheet", "counted", "setting",
//    "runs": [{"id", "source", "kind", "measured", "computed", "error", "distance", "share", "here", "setting"}],
//    "differences": [{"trait", "yours", "runs": [values of the nearest] or [least, most], "widens"}],
//    "own": [{"runs", "low", "high"}]}
//
// `error` is computed over measured minus one; `here` the answer with that run's error; `share` its part of all that
// counts; `widens` how much of the half-width, as a share of the answer, goes with the difference; `own` the interval
// if so many runs of this very setting came out as computed.
Result<Json> RunsLike(const Scenario& scenario, std::string_view figure);

}  // namespace slipstick
