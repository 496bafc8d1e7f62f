// The devices that a scenario's questions run on.
#pragma once

#include "core/scenario/scenario.h"

namespace slipstick {

// The cluster with as many devices as are bought and powered: from version 3 on those that train or serve, which may be
// a few of a large cluster; before, and where training and serving are off, all of it.
Cluster ClusterInUse(const Scenario& scenario);

}  // namespace slipstick
