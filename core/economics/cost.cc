#include "core/economics/cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/base/standard.h"

namespace slipstick {
namespace {

std::string Micrometres(double value) { return NumberText(std::round(1000 * value) / 1000); }

// Dies that do not lie whole on a wafer cannot be made: adds the reason, and the wafer that holds one.
void CheckWafer(const DeviceBill& bill, std::vector<Infeasibility>& infeasible) {
  for (const DieInput& die : bill.dies) {
    const Millimetres width = DieWidth(die.area, die.aspect), height = die.area / width,
                      needed = sqrt(width * width + height * height) + 2 * bill.wafer.edge;
    if (bill.wafer.diameter >= needed) continue;
    infeasible.push_back({"wafer", die.name + ": no die of " + Micrometres(width.base()) + " × " +
                                       Micrometres(height.base()) + " mm lies whole on a wafer of " +
                                       NumberText(bill.wafer.diameter.base()) + " mm; at least " +
                                       Micrometres(needed.base()) + " mm (cost.device.wafer.diameter)"});
  }
}

// A carrier holds all that stands on it, unless it is a bridge: several, or as many as the shared edges need.
void CheckCarrier(const DeviceBill& bill, const DeviceGeometry& geometry, std::vector<Infeasibility>& infeasible) {
  const Package& package = bill.package;
  if (!package.carrier) {
    const auto joins_it = [](const AssemblyStep& step) {
      return std::find(step.adds.begin(), step.adds.end(), Part::kCarrier) != step.adds.end();
    };
    const auto step = std::find_if(package.steps.begin(), package.steps.end(), joins_it);
    if (step == package.steps.end()) return;
    infeasible.push_back({"carrier", package.name + ": the step " + step->name +
                                         " joins a carrier, and there is none (cost.device.package.carrier)"});
    return;
  }
  const Carrier& carrier = *package.carrier;
  const SquareMillimetres standing = PartsOf(bill.dies, bill.memory).Standing();
  if (carrier.count > 1 || carrier.edge_each > Millimetres() ||
      geometry.package.carrier_area >= standing * (1 - kRoundingGuard))
    return;
  infeasible.push_back({"carrier", package.name + ": a carrier of " +
                                       GroupedText(std::round(geometry.package.carrier_area.base())) +
                                       " mm² cannot hold " + GroupedText(std::round(standing.base())) +
                                       " mm² of dies and memory stacks (cost.device.package.carrier)"});
}

// If dies and stacks exceed the area limit of this kind of package, adds the reason, and the limit.
void CheckPackageArea(const DeviceBill& bill, std::vector<Infeasibility>& infeasible) {
  const SquareMillimetres standing = PartsOf(bill.dies, bill.memory).Standing();
  if (!bill.package.area_limit || standing <= *bill.package.area_limit) return;
  infeasible.push_back({"package", bill.package.name + ": " + GroupedText(std::round(standing.base())) +
                                       " mm² of dies and memory stacks side by side; at most " +
                                       GroupedText(std::round(bill.package.area_limit->base())) +
                                       " mm² can be packaged (cost.device.package.area_limit)"});
}

// Stacked dies stand on other dies: at least one die of the package must stand on the carrier or substrate.
void CheckStack(const DeviceBill& bill, std::vector<Infeasibility>& infeasible) {
  const auto stacked = [](const DieInput& die) { return die.stacked; };
  if (bill.dies.empty() || !std::all_of(bill.dies.begin(), bill.dies.end(), stacked)) return;
  infeasible.push_back(
      {"stacked", "All dies are stacked on another one, and none stands below them (cost.device.dies)"});
}

void CheckRental(const Cluster& cluster, const CostInputs& inputs, std::vector<std::string>& warnings) {
  if (!inputs.rental || inputs.rental->device.empty() || inputs.rental->device == cluster.device.preset) return;
  warnings.push_back("The rent is that of " + inputs.rental->device + ", the devices are " + cluster.device.name + ".");
}

void AddDefaultDie(const Cluster& cluster, DeviceBill& bill, std::vector<std::string>& warnings) {
  DieInput die = Standard<DieInput>();
  die.area = cluster.device.die.area;
  die.count = cluster.device.die.count;
  bill.dies.push_back(die);
  warnings.push_back("cost.device.dies is empty: the dies of the device are priced on " + die.node.name);
}

// `joined`: devices on the same networks, those of another kind included.
HardwareCost CostOf(const Cluster& cluster, const CostInputs& inputs, const Tally& joined = 0) {
  const DeviceBill& bill = inputs.device;
  HardwareCost report;
  report.devices = cluster.devices;
  const DeviceGeometry geometry = ComputeGeometry(bill);
  const DeviceCost device = PriceDevice(bill, geometry);
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const DieCost& cost = device.dies[i];
    report.dies.push_back({die.name, die.area, die.node.name, die.count, cost.per_wafer, cost.yield, cost.good});
  }
  report.device = device.total;
  report.device_parts = device.lines;
  report.device_price = device.price;
  report.package_yield = device.yield;
  SystemCost system = PriceUse(cluster, inputs, device.price, joined);
  report.system = system.total;
  report.system_parts = std::move(system.lines);
  report.device_hour = system.device_hour;
  report.device_second = system.device_second;
  report.device_hour_parts = std::move(system.hour_lines);
  report.use = Figure("Time in which a device is used, over its life", inputs.lifetime * inputs.system.utilisation);
  report.wall = WallPowerOf(cluster, inputs.system, system.network_power);
  report.carbon = PriceCarbon(bill, geometry, device, inputs.carbon, cluster.device.tdp, report.wall);
  report.grid_intensity = inputs.carbon.grid_intensity;
  report.infeasible = UnprintableDies(bill);
  CheckWafer(bill, report.infeasible);
  CheckPackageArea(bill, report.infeasible);
  CheckCarrier(bill, geometry, report.infeasible);
  CheckStack(bill, report.infeasible);
  return report;
}

// Devices of both kinds.
Tally JoinedDevices(const Cluster& cluster, const DevicePool& pool) {
  return TallyOf(Ratio(cluster.devices) + Ratio(pool.devices));
}

// Prices the prefill pool as a separate cluster in the same network, and adds its system to the total.
void AddPool(const DevicePool& pool, Cluster cluster, CostInputs inputs, CostReport& report,
             std::vector<std::string>& warnings) {
  const Tally joined = JoinedDevices(cluster, pool);
  cluster.device = pool.device;
  cluster.devices = pool.devices;
  inputs.device = inputs.prefill_pool->device;
  inputs.system = inputs.prefill_pool->system;
  inputs.rental = inputs.prefill_pool->rental;
  if (inputs.device.dies.empty()) AddDefaultDie(cluster, inputs.device, warnings);
  CheckRental(cluster, inputs, warnings);
  report.prefill_pool = CostOf(cluster, inputs, joined);
  for (const Infeasibility& one : report.prefill_pool->infeasible)
    report.infeasible.push_back({one.reason, "Prefill pool: " + one.message});
  report.system_parts.push_back({"prefill pool", report.prefill_pool->system});
  report.system = Figure("Total cost of ownership of both pools", report.system + report.prefill_pool->system);
}

}  // namespace

std::vector<Infeasibility> UnprintableDies(const DeviceBill& bill) {
  std::vector<Infeasibility> infeasible;
  for (const DieInput& die : bill.dies) {
    const Millimetres width = DieWidth(die.area, die.aspect), height = die.area / width;
    if (FitsReticle(width, height, bill.wafer)) continue;
    const SquareMillimetres field = bill.wafer.reticle_width * bill.wafer.reticle_height;
    infeasible.push_back(
        {"reticle", die.name + ": a die of " + Micrometres(width.base()) + " × " + Micrometres(height.base()) +
                        " mm is larger than the reticle field of " + NumberText(bill.wafer.reticle_width.base()) +
                        " × " + NumberText(bill.wafer.reticle_height.base()) + " mm; at most " +
                        NumberText(field.base()) + " mm² at the field's aspect ratio, or split into " +
                        NumberText(static_cast<double>(die.count) * max(2.0, ceil(die.area / field))) + " chiplets"});
  }
  return infeasible;
}

SystemCost PriceUse(const Cluster& cluster, const CostInputs& inputs, Dollars device_price, const Tally& joined) {
  Cluster whole = cluster;
  if (joined > whole.installed) whole.installed = joined;
  const NetworkCost network = PriceNetwork(whole, inputs.system);
  if (inputs.rental) return RentSystem(cluster, inputs.system, network, *inputs.rental, inputs.lifetime);
  return PriceSystem(cluster, inputs.system, network, device_price, {inputs.lifetime, inputs.electricity});
}

CostReport EvaluateCost(const Cluster& cluster, const CostInputs& inputs, Tape* tape,
                        const std::optional<DevicePool>& prefill_pool) {
  std::vector<std::string> warnings;
  Cluster bound_cluster = cluster;
  CostInputs bound = inputs;
  BindInputs(bound_cluster, "cluster", tape);
  BindInputs(bound, "cost", tape);
  if (bound.device.dies.empty()) AddDefaultDie(bound_cluster, bound.device, warnings);
  CheckRental(cluster, inputs, warnings);
  const bool has_pool = prefill_pool && bound.prefill_pool;
  CostReport report{
      CostOf(bound_cluster, bound, has_pool ? JoinedDevices(bound_cluster, *prefill_pool) : Tally()), {}, {}};
  if (has_pool) AddPool(*prefill_pool, bound_cluster, bound, report, warnings);
  report.warnings = std::move(warnings);
  return report;
}

}  // namespace slipstick
