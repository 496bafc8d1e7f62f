// Cost and power of a number of devices of a cluster, and the largest number within the limits of a question.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/economics/cost.h"
#include "core/scenario/scenario.h"
#include "core/serving/serving_report.h"
#include "core/sizing/question.h"

namespace slipstick {

// The most devices that all limits allow, in whole servers, and the limit that binds; "" if none does.
struct DeviceLimit {
  Count devices = 0;
  std::string_view by;
};

// Devices bought for prefill and for decode.
struct PoolSizes {
  Count prefill = 0, decode = 0;
  [[nodiscard]] Count Total() const { return prefill + decode; }
};

class Fleet {
 public:
  // The cost question of `scenario` must be on.
  explicit Fleet(const Scenario& scenario);
  [[nodiscard]] Count server_devices() const { return scenario_.cost->system.devices_per_host; }
  [[nodiscard]] DollarsPerSecond HourlyCostOf(Count devices) const;
  // What a fleet costs in the mean of a day, whose answer says what its idle devices cost: bought or reserved ones are
  // paid for, those rented on demand are given back and cost nothing. `day`: null if no day was given.
  [[nodiscard]] DollarsPerSecond PaidThrough(Json& day, DollarsPerSecond all) const;
  [[nodiscard]] Dollars SystemCostOf(const PoolSizes& bought) const;  // total cost of ownership
  [[nodiscard]] Watts ServerPower() const;
  // Rated power of servers and network, including cooling and power distribution (PUE).
  [[nodiscard]] Watts FacilityPowerOf(Count devices) const;
  [[nodiscard]] std::optional<Count> ServersPerRack(const SizeQuestion& question) const;
  [[nodiscard]] DeviceLimit MostDevices(const SizeQuestion& question) const;

  // Purchases of two pools. If the prefill pool has its own kind of device, each pool is bought in whole servers of its
  // kind; otherwise both together are.
  [[nodiscard]] PoolSizes Bought(const PoolSizes& needed) const;
  [[nodiscard]] DollarsPerSecond HourlyCostOf(const PoolSizes& bought) const;
  [[nodiscard]] ByPass<DollarsPerSecond> HourlyCosts(const PoolSizes& bought) const;  // of each pool
  [[nodiscard]] Watts FacilityPowerOf(const PoolSizes& bought) const;
  [[nodiscard]] bool Allows(const SizeQuestion& question, const PoolSizes& bought) const;

 private:
  struct Limit {
    std::string_view name;
    std::function<bool(const PoolSizes& bought)> allows;
  };
  // The limits of the question, which must outlive them.
  [[nodiscard]] std::vector<Limit> LimitsOf(const SizeQuestion& question) const;
  // The device of a prefill pool; null: the cluster's.
  [[nodiscard]] const Device* PrefillDevice() const;
  [[nodiscard]] CostReport CostOf(const PoolSizes& bought) const;

  const Scenario& scenario_;
};

}  // namespace slipstick
