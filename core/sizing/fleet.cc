#include "core/sizing/fleet.h"

#include <algorithm>
#include <cmath>

#include "core/scenario/designed_device.h"
#include "core/sizing/first_of.h"

namespace slipstick {
namespace {

constexpr Count kUnlimitedDevices = 1 << 20;

}  // namespace

Fleet::Fleet(const Scenario& scenario) : scenario_(scenario) {}

DollarsPerSecond Fleet::HourlyCostOf(Count devices) const { return HourlyCostOf({0, devices}); }

Watts Fleet::ServerPower() const {
  return static_cast<double>(server_devices()) * scenario_.cluster.device.tdp * scenario_.cost->system.host_power;
}

Watts Fleet::FacilityPowerOf(Count devices) const { return FacilityPowerOf({0, devices}); }

DollarsPerSecond Fleet::PaidThrough(Json& day, DollarsPerSecond all) const {
  const std::optional<Rental>& rental = scenario_.cost->rental;
  if (day.is_null() || !rental || rental->term == RentalTerm::kReserved) return all;
  const DollarsPerSecond idle = day["idle_usd_per_hour"].get<double>() * kUsdPerHour;
  day["idle_usd_per_hour"] = 0;
  return all - idle;
}

Dollars Fleet::SystemCostOf(const PoolSizes& bought) const { return CostOf(bought).system; }

std::optional<Count> Fleet::ServersPerRack(const SizeQuestion& question) const {
  if (!question.power_per_rack || !(ServerPower() > Watts())) return std::nullopt;
  return static_cast<Count>(
      std::min(std::floor(*question.power_per_rack / ServerPower()), static_cast<double>(kUnlimitedDevices)));
}

std::vector<Fleet::Limit> Fleet::LimitsOf(const SizeQuestion& question) const {
  std::vector<Limit> limits;
  if (ServersPerRack(question) == 0) limits.push_back({"power_per_rack", [](const PoolSizes&) { return false; }});
  if (question.devices)
    limits.push_back({"devices", [&](const PoolSizes& bought) { return bought.Total() <= *question.devices; }});
  if (question.power)
    limits.push_back({"power", [&](const PoolSizes& bought) { return FacilityPowerOf(bought) <= *question.power; }});
  if (question.budget)
    limits.push_back({"budget", [&](const PoolSizes& bought) { return SystemCostOf(bought) <= *question.budget; }});
  if (question.budget_per_hour)
    limits.push_back({"budget_per_hour",
                      [&](const PoolSizes& bought) { return HourlyCostOf(bought) <= *question.budget_per_hour; }});
  return limits;
}

DeviceLimit Fleet::MostDevices(const SizeQuestion& question) const {
  const Count per_server = server_devices();
  Count servers = kUnlimitedDevices / per_server;
  std::string_view by;
  for (const Limit& limit : LimitsOf(question)) {
    const Count most = FirstOf(1, servers + 1, [&](Count count) { return !limit.allows({0, count * per_server}); }) - 1;
    if (most < servers) servers = most, by = limit.name;
  }
  return {servers * per_server, by};
}

bool Fleet::Allows(const SizeQuestion& question, const PoolSizes& bought) const {
  const std::vector<Limit> limits = LimitsOf(question);
  return bought.Total() <= kUnlimitedDevices &&
         std::all_of(limits.begin(), limits.end(), [&](const Limit& limit) { return limit.allows(bought); });
}

const Device* Fleet::PrefillDevice() const {
  const Disaggregated* const pools = PoolsOfTwoKinds(*scenario_.serving);
  return pools != nullptr ? &*pools->prefill_device : nullptr;
}

PoolSizes Fleet::Bought(const PoolSizes& needed) const {
  const auto whole_servers = [](Count devices, Count per_server) {
    return (devices + per_server - 1) / per_server * per_server;
  };
  if (PrefillDevice() == nullptr)
    return {needed.prefill, whole_servers(needed.Total(), server_devices()) - needed.prefill};
  const SystemInputs& prefill =
      scenario_.cost->prefill_pool ? scenario_.cost->prefill_pool->system : scenario_.cost->system;
  return {whole_servers(needed.prefill, prefill.devices_per_host), whole_servers(needed.decode, server_devices())};
}

CostReport Fleet::CostOf(const PoolSizes& bought) const {
  const Device* prefill = PrefillDevice();
  Cluster cluster = scenario_.cluster;
  cluster.devices = prefill != nullptr ? bought.decode : bought.Total();
  return EvaluateCost(cluster, SplitCosts(scenario_.partition, *scenario_.cost).value_or(*scenario_.cost), nullptr,
                      prefill != nullptr ? std::optional(DevicePool{*prefill, bought.prefill}) : std::nullopt);
}

ByPass<DollarsPerSecond> Fleet::HourlyCosts(const PoolSizes& bought) const {
  const CostReport cost = CostOf(bought);
  const HardwareCost& prefill = cost.prefill_pool ? *cost.prefill_pool : cost;
  return {Ratio(bought.prefill) * prefill.device_second, Ratio(bought.decode) * cost.device_second};
}

// Purchases of equally many devices of one kind cost exactly the same, whichever pool the devices are for.
DollarsPerSecond Fleet::HourlyCostOf(const PoolSizes& bought) const {
  if (PrefillDevice() == nullptr) return static_cast<double>(bought.Total()) * CostOf(bought).device_second;
  const ByPass<DollarsPerSecond> pools = HourlyCosts(bought);
  return pools.prefill + pools.decode;
}

Watts Fleet::FacilityPowerOf(const PoolSizes& bought) const {
  const CostReport cost = CostOf(bought);
  const auto pool = [](Count devices, Watts tdp, const WallPower& wall) {
    return Ratio(devices) * (tdp + wall.rated + wall.network) * wall.pue;
  };
  const Watts tdp = scenario_.cluster.device.tdp;
  const Device* prefill = PrefillDevice();
  if (prefill == nullptr || !cost.prefill_pool) return pool(bought.Total(), tdp, cost.wall);
  return pool(bought.prefill, prefill->tdp, cost.prefill_pool->wall) + pool(bought.decode, tdp, cost.wall);
}

}  // namespace slipstick
