// Cost inputs that are estimates.
#pragma once

#include <string>
#include <vector>

#include "core/economics/cost_inputs.h"

namespace slipstick {

// Paths below "cost" whose catalogue entry names an estimate as its source and whose value is still the entry's;
// "cost.device" if the device has no bill in the catalogue, "cost.system" if the cluster has no system there; the same
// for the prefill pool.
std::vector<std::string> EstimatedCosts(const CostInputs& inputs);

}  // namespace slipstick
