// Warnings about requests that have an answer although no machine or model has the requested property.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// `networks`: the levels as the request writes them, null if it writes none.
std::vector<std::string> RequestWarnings(const Scenario& scenario, const Json& networks);

// The written numbers of requests, which rollouts of post-training do not use.
void AddUnusedByRollouts(const Scenario& scenario, const Written& written, std::vector<std::string>& texts);

}  // namespace slipstick
