// One operator, collective or expert exchange, timed alone: the `kernel` command.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// {"device", "operator"}, {"cluster", "collective"} or {"cluster", "exchange"} ->
// {"time_s","bound","flops","bytes","algorithm","bytes_per_s"?}, or issues; beside these the "assumed" efficiencies of
// an operator, or the "latency_s" of a collective.
Result<Json> EvaluateKernel(const Json& request);

// The same for a request with an operator (kernel_operator.cc).
Result<Json> EvaluateOperator(const Json& request);

}  // namespace slipstick
