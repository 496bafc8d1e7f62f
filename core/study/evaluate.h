// A scenario's report.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/study/scenario.h"

namespace slipstick {

// The report of contract section 3. `explain` names a figure of it ("training.step_time_s"), or is "*" for all; a path
// that names no figure is an issue. Total: every Scenario has a report.
Result<Json> Evaluate(const Scenario& scenario, std::string_view explain = "");

}  // namespace slipstick
