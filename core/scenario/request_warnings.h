// Warnings about requests that have an answer although no machine or model has the requested property.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// `networks`: the levels as the request writes them, null if it writes none.
std::vector<std::string> RequestWarnings(const Scenario& scenario, const Json& networks);

}  // namespace slipstick
