#include "core/scenario/devices_in_use.h"

#include <algorithm>

#include "core/base/bind_inputs.h"

namespace slipstick {
namespace {

// Of serving whose prefill pool has another device than the cluster; null otherwise.
const Disaggregated* PoolsOfTwoDevices(const Scenario& scenario) {
  const bool has_pools = scenario.serving && scenario.serving->disaggregated;
  return has_pools && scenario.serving->disaggregated->prefill_device ? &*scenario.serving->disaggregated : nullptr;
}

}  // namespace

Cluster ClusterInUse(const Scenario& scenario) {
  Cluster cluster = scenario.cluster;
  const bool asks_cost_alone = !scenario.training && !scenario.serving && !scenario.diffusion;
  const std::optional<ServingLoad>& load = scenario.serving;
  const Disaggregated* pools = PoolsOfTwoDevices(scenario);
  const Count others = pools != nullptr ? pools->prefill_devices : Tally(0);
  if (scenario.version < 3 || asks_cost_alone || scenario.post_training) {
    cluster.devices = std::max<Count>(1, cluster.devices - others);
    return cluster;
  }
  const Count training = scenario.training ? scenario.training->devices.value_or(cluster.devices) : Tally(0);
  const Count serving = load ? load->devices.value_or(cluster.devices) - others : 0;
  const Count diffusion = scenario.diffusion ? scenario.diffusion->devices.value_or(cluster.devices) : Tally(0);
  cluster.devices = std::min<Count>(cluster.devices, std::max({training, serving, diffusion}));
  return cluster;
}

std::optional<DevicePool> PrefillPoolOf(const Scenario& scenario, Tape* tape) {
  const Disaggregated* pools = PoolsOfTwoDevices(scenario);
  if (pools == nullptr) return std::nullopt;
  DevicePool pool{*pools->prefill_device, pools->prefill_devices};
  BindInputs(pool.device, "serving.disaggregated.prefill_device", tape);
  BindInputs(pool.devices, "serving.disaggregated.prefill_devices", tape);
  return pool;
}

}  // namespace slipstick
