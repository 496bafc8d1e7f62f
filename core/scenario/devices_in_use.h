// The devices that a scenario's questions run on.
#pragma once

#include <optional>

#include "core/economics/cost.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The cluster with as many devices as are bought and powered: from version 3 on those that train or serve, which may be
// a few of a large cluster; before, and where training and serving are off, all of it. Without those of a prefill pool
// of another device.
Cluster ClusterInUse(const Scenario& scenario);

// The prefill pool, where it has another device than the cluster.
std::optional<DevicePool> PrefillPoolOf(const Scenario& scenario, Tape* tape = nullptr);

}  // namespace slipstick
