// The answer of a sizing question for one cluster.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/search/limits.h"
#include "core/sizing/question.h"

namespace slipstick {

// {"holds": true, "deployment", "at_peak", "simulated", "at_mean", "cost", "headroom", "spare", "classes", "day",
// "overrides", "two_pools"?}, or {"holds": false, "reason", "message", "rejected"?, "nearest"?, "needed_devices"?}. The
// overrides turn the request into the scenario of the deployment at the peak. `request` must be complete.
Result<Json> SizeCluster(const Json& request, const SizeQuestion& question, const SpaceLimits& limits);

}  // namespace slipstick
