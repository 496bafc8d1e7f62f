// Which inputs of the costs rest on an estimate.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace slipstick {

// Paths below "cost" whose catalogue entry calls its source an estimate and whose value is still the entry's; "cost.device" where
// the device has no bill of its own. `cost` is written out in full: presets expanded, defaults laid in.
std::vector<std::string> EstimatedCosts(const Json& cost);

}  // namespace slipstick
