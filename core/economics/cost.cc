#include "core/economics/cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/standard.h"
#include "core/economics/package_parts.h"

namespace slipstick {
namespace {

std::string Micrometres(double value) { return NumberText(std::round(1000 * value) / 1000); }

// Dies larger than the reticle field cannot be made: the reason, and the nearest size that fits.
void CheckReticle(const DeviceBill& bill, std::vector<Infeasibility>& infeasible) {
  for (const DieInput& die : bill.dies) {
    const Millimetres width = DieWidth(die.area, die.aspect), height = die.area / width;
    if (FitsReticle(width, height, bill.wafer)) continue;
    const SquareMillimetres field = bill.wafer.reticle_width * bill.wafer.reticle_height;
    infeasible.push_back({"reticle", die.name + ": a die of " + Micrometres(width.base()) + " × " +
                                         Micrometres(height.base()) + " mm is larger than the reticle field of " +
                                         NumberText(bill.wafer.reticle_width.base()) + " × " +
                                         NumberText(bill.wafer.reticle_height.base()) + " mm; at most " +
                                         NumberText(field.base()) + " mm² at the field's aspect ratio, or split into " +
                                         NumberText(max(2.0, ceil(die.area / field))) + " chiplets"});
  }
}

// Dies and stacks beyond what a package of this kind can be made for: the reason, and the largest area.
void CheckPackageArea(const DeviceBill& bill, std::vector<Infeasibility>& infeasible) {
  const PackageParts parts = PartsOf(bill.dies, bill.memory);
  const SquareMillimetres standing = parts.die_area + parts.memory_area;
  if (!bill.package.area_limit || standing <= *bill.package.area_limit) return;
  infeasible.push_back({"package", bill.package.name + ": " + GroupedText(std::round(standing.base())) +
                                       " mm² of dies and memory stacks side by side; at most " +
                                       GroupedText(std::round(bill.package.area_limit->base())) +
                                       " mm² can be packaged (cost.device.package.area_limit)"});
}

// Of a device, over its life.
Seconds TimeInUse(const CostInputs& inputs, Trace& trace) {
  const Seconds lifetime = inputs.lifetime;
  const double utilisation = inputs.system.utilisation;
  trace.Input("lifetime", lifetime, "cost.lifetime");
  trace.Input("utilisation", utilisation, "cost.system.utilisation");
  FIGURE(trace, device_life, lifetime * utilisation, (Note{"Time in which a device is used, over its life"}), lifetime,
         utilisation);
  return device_life;
}

void CheckRental(const Cluster& cluster, const CostInputs& inputs, std::vector<std::string>& warnings) {
  if (!inputs.rental || inputs.rental->device.empty() || inputs.rental->device == cluster.device.preset) return;
  warnings.push_back("The rent is that of " + inputs.rental->device + ", the devices are " + cluster.device.name + ".");
}

}  // namespace

SystemCost PriceUse(const Cluster& cluster, const CostInputs& inputs, Dollars device_price, Trace& trace) {
  if (inputs.rental)
    return RentSystem(cluster, inputs.system, *inputs.rental, inputs.lifetime, inputs.electricity, trace);
  return PriceSystem(cluster, inputs.system, device_price, inputs.lifetime, inputs.electricity, trace);
}

CostReport EvaluateCost(const Cluster& cluster, const CostInputs& inputs, Trace& trace) {
  CostReport report;
  {
    const Trace::Scope scope(trace, "cost");
    const double devices = static_cast<double>(cluster.devices);
    FIGURE(trace, devices_in_use, 1 * devices, (Note{"Devices that are bought or rented", "", "", "cost.devices"}),
           devices);
    report.devices = static_cast<Count>(devices_in_use);
  }
  DeviceBill bill = inputs.device;
  if (bill.dies.empty()) {
    DieInput die = Standard<DieInput>();
    die.area = cluster.device.die.area;
    die.count = cluster.device.die.count;
    bill.dies.push_back(die);
    report.warnings.push_back("cost.device.dies is empty: the dies of the device are priced on " + die.node.name);
  }
  const DeviceGeometry geometry = ComputeGeometry(bill);
  const DeviceCost device = PriceDevice(bill, geometry, trace);
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const DieCost& cost = device.dies[i];
    report.dies.push_back(
        {die.name, die.area, die.node.name, die.count, static_cast<double>(cost.per_wafer), cost.yield, cost.good});
  }
  report.device = device.total;
  report.device_parts = device.lines;
  report.device_price = device.price;
  report.package_yield = device.yield;
  SystemCost system = PriceUse(cluster, inputs, device.price, trace);
  CheckRental(cluster, inputs, report.warnings);
  report.system = system.total;
  report.system_parts = std::move(system.lines);
  report.device_hour = system.device_hour;
  report.device_second = system.device_second;
  report.device_hour_parts = std::move(system.hour_lines);
  {
    const Trace::Scope scope(trace, "cost.energy");
    report.use = TimeInUse(inputs, trace);
    report.wall = WallPowerOf(cluster, inputs.system, system.network_power, trace);
  }
  report.carbon = PriceCarbon(bill, geometry, device, inputs.carbon, cluster.device.tdp, report.wall.mean, trace);
  report.grid_intensity = inputs.carbon.grid_intensity;
  CheckReticle(bill, report.infeasible);
  CheckPackageArea(bill, report.infeasible);
  return report;
}

}  // namespace slipstick
