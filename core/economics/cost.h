// Cost per device, cost of the system over its life, and cost per GPU-hour.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/tally.h"
#include "core/economics/carbon.h"
#include "core/economics/cost_inputs.h"
#include "core/economics/energy.h"
#include "core/hardware/cluster.h"

namespace slipstick {

struct DieReport {
  std::string name;
  SquareMillimetres area;
  std::string node;
  Count count = 1;  // per device
  Ratio dies_per_wafer;
  Ratio yield;
  Dollars cost;  // per good die
};
// Cost of devices of one kind.
struct HardwareCost {
  Tally devices = 0;  // bought or rented
  std::vector<DieReport> dies;
  Dollars device;                           // manufacturing cost
  std::vector<BillLine> device_parts;       // add up to device exactly
  Dollars device_price;                     // what a buyer pays
  Ratio package_yield = 1;                  // good packages per package started
  Dollars system;                           // over its lifetime
  std::vector<BillLine> system_parts;       // add up to system exactly
  Dollars device_hour;                      // per hour in use, idle hours included
  std::vector<BillLine> device_hour_parts;  // add up to device_hour exactly
  DollarsPerSecond device_second;           // per second in use
  CarbonCost carbon;                        // per device
  GramsPerJoule grid_intensity;
  Seconds use;     // time in use of a device over its life
  WallPower wall;  // in addition to the devices' own draw
  std::vector<Infeasibility> infeasible;
};
struct CostReport : HardwareCost {
  // The prefill pool's system is already part of `system`, as its last line.
  std::optional<HardwareCost> prefill_pool;
  std::vector<std::string> warnings;
};
// Dies larger than the exposure field cannot be made: the reasons, and the nearest size that fits.
std::vector<Infeasibility> UnprintableDies(const DeviceBill& bill);
// Prices a system that is bought or rented, in a network of `joined` devices if these are more than the cluster's.
SystemCost PriceUse(const Cluster& cluster, const CostInputs& inputs, Dollars device_price, const Tally& joined = 0);

// Devices besides the cluster's own, on the same networks. Explanations use the nodes of these numbers.
struct DevicePool {
  Device device;
  Tally devices = 0;
};

// A total function: if the inputs name no dies, the device's own are priced on the default node, with a warning. A
// prefill pool is priced if the inputs state its cost.
CostReport EvaluateCost(const Cluster& cluster, const CostInputs& inputs, Tape* tape = nullptr,
                        const std::optional<DevicePool>& prefill_pool = std::nullopt);

}  // namespace slipstick
