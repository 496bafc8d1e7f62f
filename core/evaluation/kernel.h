// One operator or one collective, timed alone: the `kernel` command.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// {"device", "operator"} or {"cluster", "collective"} -> {"time_s","bound","flops","bytes","algorithm"}, or issues.
Result<Json> EvaluateKernel(const Json& request);

// `request` must have the member "operator" or "collective".
Result<Json> EvaluateOperator(const Json& request);
Result<Json> EvaluateCollective(const Json& request);

}  // namespace slipstick
