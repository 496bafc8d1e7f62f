// Engines and frameworks, and the devices on which they run: presets list the families.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// From version 3 on: if the request names no engine or framework and the default one does not run on the devices,
// chooses the most specialized one that does, i.e. the one with the fewest families. The cluster must be expanded.
std::vector<Chosen> FollowDevices(Json& request, const Written& written);

// One sentence per engine or framework that does not run on its devices, naming those of the catalogue that do.
std::vector<std::string> UnsupportedSoftware(const Scenario& scenario);

}  // namespace slipstick
