// Networks of the catalogue: those that a request names by their preset, and those of a device's server.
#pragma once

#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Expands the network presets that a request's cluster names, under its own members. This comes before the cluster's
// preset is expanded: a named network replaces the preset's level.
void ExpandNetworks(Json& cluster, Issues& issues);

// The networks of the catalogue's server of a device; empty if the device is not of the catalogue or has no links.
std::vector<NetworkLevel> NetworksOfServer(const Device& device);

}  // namespace slipstick
