// Engines and frameworks on the devices that they run on: a table of families in their presets.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// From version 3 on, where nobody wrote an engine or a framework and the default one does not run on the devices: the
// most specialized that does, which is the one with the fewest families. The cluster must be expanded.
std::vector<Chosen> FollowDevices(Json& request, const Written& written);

// One sentence for each that does not run on its devices, with those of the catalogue that do.
std::vector<std::string> UnsupportedSoftware(const Scenario& scenario);

}  // namespace slipstick
