#include "core/economics/carbon.h"

#include <string>

#include "core/base/sum.h"
#include "core/economics/ownership.h"

namespace slipstick {

GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials,
                           double yield) {
  return (intensity * energy + gas + materials) / yield;
}

namespace {

void BindDie(const DieInput& die, const std::string& input, Trace& trace) {
  trace.Input("count", static_cast<double>(die.count), input + "count");
  trace.Input("area", die.area, input + "area");
  trace.Input("fab_energy", die.node.fab_energy, input + "node.fab_energy");
  trace.Input("fab_gas", die.node.fab_gas, input + "node.fab_gas");
}

Grams SiliconCarbon(const DeviceBill& bill, const DeviceCost& device, const CarbonInputs& inputs, Trace& trace) {
  const GramsPerJoule fab_intensity = inputs.fab_intensity;
  const GramsPerArea materials = inputs.materials;
  if (trace.on()) {
    trace.Input("fab_intensity", fab_intensity, "cost.carbon.fab_intensity");
    trace.Input("materials", materials, "cost.carbon.materials");
  }
  RunningSum<Grams> silicon(trace, "silicon", "silicon_before", Note{"Embodied carbon of the dies so far"});
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const JoulesPerArea fab_energy = die.node.fab_energy;
    const GramsPerArea fab_gas = die.node.fab_gas;
    const double count = static_cast<double>(die.count), die_yield = device.dies[i].yield;
    const SquareMillimetres area = die.area;
    const Trace::Scope scope(trace, die.name);
    if (trace.on()) BindDie(die, "cost.device.dies." + std::to_string(i) + ".", trace);
    FIGURE(trace, silicon_of_kind, count * area * (fab_intensity * fab_energy + fab_gas + materials) / die_yield,
           (Note{"Embodied carbon of the dies of this kind", "bad dies included", "ACT, Gupta et al., ISCA 2022"}),
           count, area, fab_intensity, fab_energy, fab_gas, materials, die_yield);
    silicon.Add("silicon_of_kind", silicon_of_kind);
  }
  return silicon.sum();
}

struct PackageCarbon {
  Grams carrier, substrate, packaging;
};
PackageCarbon PackageCarbonOf(const DeviceBill& bill, const DeviceGeometry& geometry, const CarbonInputs& inputs,
                              Trace& trace) {
  PackageCarbon result;
  const GramsPerArea laminate = inputs.laminate;
  if (trace.on()) {
    trace.Input("laminate", laminate, "cost.carbon.laminate");
    trace.Input("packaging", inputs.package, "cost.carbon.package");
  }
  if (bill.package.carrier) {
    const double carrier_count = static_cast<double>(geometry.package.carriers);
    const SquareMillimetres carrier_area = geometry.package.carrier_area;
    const GramsPerArea carrier_carbon = bill.package.carrier->carbon;
    if (trace.on()) trace.Input("carrier_carbon", carrier_carbon, "cost.device.package.carrier.carbon");
    FIGURE(trace, carrier, carrier_count * carrier_area * carrier_carbon,
           (Note{"Embodied carbon of the interposer, bridges or RDL"}), carrier_count, carrier_area, carrier_carbon);
    result.carrier = carrier;
  }
  const SquareMillimetres substrate_area = geometry.package.substrate_area;
  FIGURE(trace, substrate, substrate_area * laminate, (Note{"Embodied carbon of the package substrate"}),
         substrate_area, laminate);
  result.substrate = substrate;
  result.packaging = inputs.package;
  return result;
}

struct ModuleCarbon {
  Grams board, heat_sink, regulators;
};
ModuleCarbon ModuleCarbonOf(const DeviceBill& bill, const CarbonInputs& inputs, Watts tdp, Trace& trace) {
  const SquareMillimetres board_area = bill.board_area;
  const GramsPerArea laminate = inputs.laminate;
  const GramsPerWatt heat_sink_mass = inputs.heat_sink_mass, regulator_carbon = inputs.regulators;
  const double heat_sink_carbon = inputs.heat_sink;
  if (trace.on()) {
    trace.Input("board_area", board_area, "cost.device.board_area");
    trace.Input("heat_sink_mass", heat_sink_mass, "cost.carbon.heat_sink_mass");
    trace.Input("heat_sink_carbon", heat_sink_carbon, "cost.carbon.heat_sink");
    trace.Input("regulator_carbon", regulator_carbon, "cost.carbon.regulators");
    trace.Input("tdp", tdp, "cluster.device.tdp");
  }
  FIGURE(trace, board, board_area * laminate,
         (Note{"Embodied carbon of the board", "", "Boavizta and ADEME 2025, graphics cards"}), board_area, laminate);
  FIGURE(trace, heat_sink, tdp * heat_sink_mass * heat_sink_carbon,
         (Note{"Embodied carbon of the heat sink", "mass proportional to TDP; primary aluminum",
               "International Aluminium Institute"}),
         tdp, heat_sink_mass, heat_sink_carbon);
  FIGURE(trace, regulators, tdp * regulator_carbon,
         (Note{"Embodied carbon of voltage regulators and connectors", "",
               "NVIDIA, HGX H100 product carbon footprint, 2025"}),
         tdp, regulator_carbon);
  return {board, heat_sink, regulators};
}

}  // namespace

CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceGeometry& geometry, const DeviceCost& device,
                       const CarbonInputs& inputs, Watts tdp, Watts wall_power, Trace& trace) {
  const Trace::Scope scope(trace, "cost.carbon.parts");
  const Grams silicon = SiliconCarbon(bill, device, inputs, trace);
  const Bytes stack_capacity = bill.memory.stack_capacity;
  const double stacks = static_cast<double>(bill.memory.stacks);
  trace.Input("stack_capacity", stack_capacity, "cost.device.memory.stack_capacity");
  trace.Input("stacks", stacks, "cost.device.memory.stacks");
  FIGURE(trace, capacity, stack_capacity * stacks, (Note{"Memory of a device"}), stack_capacity, stacks);
  const GramsPerByte memory_carbon = bill.memory.carbon;
  const GramsPerJoule grid_intensity = inputs.grid_intensity;
  const double assembly_share = inputs.assembly;
  if (trace.on()) {
    trace.Input("memory_carbon", memory_carbon, "cost.device.memory.carbon");
    trace.Input("grid_intensity", grid_intensity, "cost.carbon.grid_intensity");
    trace.Input("assembly_share", assembly_share, "cost.carbon.assembly");
  }
  FIGURE(trace, memory, capacity * memory_carbon, (Note{"Embodied carbon of the memory"}), capacity, memory_carbon);
  const PackageCarbon package = PackageCarbonOf(bill, geometry, inputs, trace);
  const Grams carrier = package.carrier, substrate = package.substrate, packaging = package.packaging;
  const ModuleCarbon module = ModuleCarbonOf(bill, inputs, tdp, trace);
  const Grams board = module.board, heat_sink = module.heat_sink, regulators = module.regulators;
  const Grams assembled = Sum<Grams>(trace, "assembled", Note{"Embodied carbon of the parts"},
                                     {{"silicon", silicon},
                                      {"memory", memory},
                                      {"carrier", carrier, bill.package.carrier.has_value()},
                                      {"substrate", substrate},
                                      {"packaging", packaging},
                                      {"board", board},
                                      {"heat_sink", heat_sink},
                                      {"regulators", regulators}});
  FIGURE(trace, assembly, assembly_share * assembled,
         (Note{"Carbon of assembly and test", "", "NVIDIA, HGX H100 product carbon footprint, 2025"}), assembly_share,
         assembled);
  FIGURE(trace, embodied, assembled + assembly,
         (Note{"Embodied carbon per device", "cradle to gate; excludes the server around the device", "",
               "cost.carbon.embodied_g"}),
         assembled, assembly);
  FIGURE(trace, operation, wall_power * grid_intensity, (Note{"Operational carbon rate per device"}), wall_power,
         grid_intensity);
  const Seconds hour = Hour(trace);
  FIGURE(trace, operation_hour, operation * hour,
         (Note{"Operational carbon per GPU-hour", "", "", "cost.carbon.operation_g_per_device_hour"}), operation, hour);
  return {{{"dies", silicon},
           {"memory", memory},
           {"package carrier", carrier},
           {"package substrate", substrate},
           {"packaging", packaging},
           {"board", board},
           {"heat sink", heat_sink},
           {"voltage regulators", regulators},
           {"assembly and test", assembly}},
          embodied,
          operation};
}

}  // namespace slipstick
