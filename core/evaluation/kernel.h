// One operator or one collective, timed alone: the `kernel` command.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// {"device", "operator"} or {"cluster", "collective"} -> {"time_s","bound","flops","bytes","algorithm"}, or issues.
Result<Json> EvaluateKernel(const Json& request);

// The two halves; `request` is an object that has that member.
Result<Json> EvaluateOperator(const Json& request);
Result<Json> EvaluateCollective(const Json& request);

}  // namespace slipstick
