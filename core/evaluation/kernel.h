// One operator, collective or expert exchange, timed alone: the `kernel` command.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// {"device", "operator"}, {"cluster", "collective"} or {"cluster", "exchange"} ->
// {"time_s","bound","flops","bytes","algorithm"}, or issues.
Result<Json> EvaluateKernel(const Json& request);

// `request` must have the member "operator", "collective" or "exchange".
Result<Json> EvaluateOperator(const Json& request);
Result<Json> EvaluateCollective(const Json& request);
Result<Json> EvaluateExchange(const Json& request);

// The request's cluster; default: dgx-h100.
Cluster ReadCluster(const Json& request, Issues& issues);

}  // namespace slipstick
