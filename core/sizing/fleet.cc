#include "core/sizing/fleet.h"

#include <algorithm>
#include <cmath>

#include "core/base/trace.h"
#include "core/scenario/designed_device.h"

namespace slipstick {
namespace {

constexpr Count kUnlimitedDevices = 1 << 20;

// The most servers within a limit that more servers can only exceed.
template <class Within>
Count MostServers(Count most, const Within& within) {
  Count low = 0, high = most + 1;
  while (high - low > 1) {
    const Count middle = low + (high - low) / 2;
    (within(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

Fleet::Fleet(const Scenario& scenario) : scenario_(scenario) {}

CostReport Fleet::CostOf(Count devices) const {
  Cluster cluster = scenario_.cluster;
  cluster.devices = devices;
  Trace off = Trace::Off();
  return EvaluateCost(cluster, SplitCosts(scenario_.partition, *scenario_.cost, off).value_or(*scenario_.cost), off);
}

DollarsPerSecond Fleet::HourlyCostOf(Count devices) const {
  return static_cast<double>(devices) * CostOf(devices).device_second;
}

Watts Fleet::ServerPower() const {
  return static_cast<double>(server_devices()) * scenario_.cluster.device.tdp * scenario_.cost->system.host_power;
}

Watts Fleet::FacilityPowerOf(Count devices) const {
  const double servers = static_cast<double>(devices) / static_cast<double>(server_devices());
  return servers * ServerPower() * scenario_.cost->system.pue;
}

std::optional<Count> Fleet::ServersPerRack(const SizeQuestion& question) const {
  if (!question.power_per_rack || !(ServerPower() > Watts())) return std::nullopt;
  return static_cast<Count>(
      std::min(std::floor(*question.power_per_rack / ServerPower()), static_cast<double>(kUnlimitedDevices)));
}

DeviceLimit Fleet::MostDevices(const SizeQuestion& question) const {
  const Count per_server = server_devices();
  Count servers = kUnlimitedDevices / per_server;
  std::string_view by;
  const auto limit = [&](std::string_view name, const auto& within) {
    const Count most = MostServers(servers, [&](Count count) { return within(count * per_server); });
    if (most < servers) servers = most, by = name;
  };
  if (ServersPerRack(question) == 0) limit("power_per_rack", [](Count) { return false; });
  if (question.devices) limit("devices", [&](Count devices) { return devices <= *question.devices; });
  if (question.power) limit("power", [&](Count devices) { return FacilityPowerOf(devices) <= *question.power; });
  if (question.budget) limit("budget", [&](Count devices) { return CostOf(devices).system <= *question.budget; });
  if (question.budget_per_hour)
    limit("budget_per_hour", [&](Count devices) { return HourlyCostOf(devices) <= *question.budget_per_hour; });
  return {servers * per_server, by};
}

const Device* Fleet::PrefillDevice() const {
  const std::optional<Disaggregated>& pools = scenario_.serving->disaggregated;
  return pools && pools->prefill_device ? &*pools->prefill_device : nullptr;
}

PoolSizes Fleet::Bought(const PoolSizes& needed) const {
  const auto whole_servers = [this](Count devices) {
    return (devices + server_devices() - 1) / server_devices() * server_devices();
  };
  if (PrefillDevice() != nullptr) return {whole_servers(needed.prefill), whole_servers(needed.decode)};
  return {needed.prefill, whole_servers(needed.Total()) - needed.prefill};
}

CostReport Fleet::CostOf(const PoolSizes& bought) const {
  const Device* device = PrefillDevice();
  if (device == nullptr) return CostOf(bought.Total());
  Cluster cluster = scenario_.cluster;
  cluster.devices = bought.decode;
  Trace off = Trace::Off();
  return EvaluateCost(cluster, SplitCosts(scenario_.partition, *scenario_.cost, off).value_or(*scenario_.cost), off,
                      DevicePool{*device, bought.prefill});
}

DollarsPerSecond Fleet::HourlyCostOf(const PoolSizes& bought) const {
  const CostReport cost = CostOf(bought);
  const DollarsPerSecond prefill = cost.prefill_pool ? cost.prefill_pool->device_second : cost.device_second;
  return Ratio(bought.prefill) * prefill + Ratio(bought.decode) * cost.device_second;
}

Watts Fleet::FacilityPowerOf(const PoolSizes& bought) const {
  const Device* device = PrefillDevice();
  const Watts prefill = device != nullptr ? device->tdp : scenario_.cluster.device.tdp;
  return (Ratio(bought.prefill) * prefill + Ratio(bought.decode) * scenario_.cluster.device.tdp) *
         scenario_.cost->system.host_power * scenario_.cost->system.pue;
}

bool Fleet::Allows(const SizeQuestion& question, const PoolSizes& bought) const {
  if (bought.Total() > kUnlimitedDevices || ServersPerRack(question) == 0) return false;
  if (question.devices && bought.Total() > *question.devices) return false;
  if (question.power && FacilityPowerOf(bought) > *question.power) return false;
  if (question.budget && CostOf(bought).system > *question.budget) return false;
  return !question.budget_per_hour || HourlyCostOf(bought) <= *question.budget_per_hour;
}

}  // namespace slipstick
