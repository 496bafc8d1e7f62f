#include "core/economics/carbon.h"

namespace slipstick {

GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials, double yield) {
  return (intensity * energy + gas + materials) / yield;
}

CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceCost& device, const CarbonInputs& inputs, Watts wall_power, Trace& trace) {
  const Trace::Scope scope(trace, "cost.carbon");
  const GramsPerJoule fab_intensity = inputs.fab_intensity, grid_intensity = inputs.grid_intensity;
  const GramsPerArea materials = inputs.materials;
  if (trace.on()) {
    trace.Input("fab_intensity", fab_intensity, "cost.carbon.fab_intensity");
    trace.Input("grid_intensity", grid_intensity, "cost.carbon.grid_intensity");
    trace.Input("materials", materials, "cost.carbon.materials");
  }
  Grams silicon_before;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const JoulesPerArea fab_energy = die.node.fab_energy;
    const GramsPerArea fab_gas = die.node.fab_gas;
    const double count = static_cast<double>(die.count), die_yield = device.dies[i].yield;
    const SquareMillimetres area = die.area;
    FIGURE(trace, silicon, silicon_before + count * area * (fab_intensity * fab_energy + fab_gas + materials) / die_yield,
           (Note{"Emitted in making the dies", "kind by kind; bad dies count", "ACT, Gupta et al., ISCA 2022"}), silicon_before, count,
           area, fab_intensity, fab_energy, fab_gas, materials, die_yield);
    silicon_before = silicon;
  }
  const Grams silicon = silicon_before;
  const Bytes capacity = bill.memory.stack_capacity * static_cast<double>(bill.memory.stacks);
  const GramsPerByte memory_carbon = bill.memory.carbon;
  const Grams packaging = inputs.package;
  FIGURE(trace, embodied, silicon + capacity * memory_carbon + packaging,
         (Note{"Emitted in making a device", "", "ACT, Gupta et al., ISCA 2022", "cost.carbon.embodied_g"}), silicon, capacity,
         memory_carbon, packaging);
  FIGURE(trace, operation, wall_power * grid_intensity, (Note{"Emitted by running a device"}), wall_power, grid_intensity);
  const Seconds hour = 1 * kHour;
  FIGURE(trace, operation_hour, operation * hour,
         (Note{"Emitted by running a device for an hour", "", "", "cost.carbon.operation_g_per_device_hour"}), operation, hour);
  return {embodied, operation};
}

}  // namespace slipstick
