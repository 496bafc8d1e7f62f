// Networks that a request names by their preset.
#pragma once

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// Expands the network presets that a request's cluster names, under its own members. This comes before the cluster's
// preset is expanded: a named network replaces the preset's level.
void ExpandNetworks(Json& cluster, Issues& issues);

}  // namespace slipstick
