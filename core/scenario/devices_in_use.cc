#include "core/scenario/devices_in_use.h"

#include <algorithm>

namespace slipstick {

Cluster ClusterInUse(const Scenario& scenario) {
  Cluster cluster = scenario.cluster;
  const bool asks_cost_alone = !scenario.training && !scenario.serving;
  if (scenario.version < 3 || asks_cost_alone || scenario.post_training) return cluster;
  const Count training = scenario.training ? scenario.training->devices.value_or(cluster.devices) : 0;
  const Count serving = scenario.serving ? scenario.serving->devices.value_or(cluster.devices) : 0;
  cluster.devices = std::min<Count>(cluster.devices, std::max(training, serving));
  return cluster;
}

}  // namespace slipstick
