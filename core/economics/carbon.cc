#include "core/economics/carbon.h"

#include "core/base/figure.h"

namespace slipstick {

GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials,
                           Ratio yield) {
  return (intensity * energy + gas + materials) / yield;
}

namespace {

constexpr std::string_view kFootprint = "NVIDIA, HGX H100 product carbon footprint, 2025";

Grams SiliconCarbon(const DeviceBill& bill, const DeviceCost& device, const CarbonInputs& inputs) {
  Grams silicon;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    silicon += Figure("Embodied carbon of the dies of this kind",
                      Ratio(die.count) * die.area *
                          CarbonPerArea(inputs.fab_intensity, die.node.fab_energy, die.node.fab_gas, inputs.materials,
                                        device.dies[i].yield),
                      "bad dies included", "ACT, Gupta et al., ISCA 2022");
  }
  return Figure("Embodied carbon of the dies", silicon);
}

}  // namespace

CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceGeometry& geometry, const DeviceCost& device,
                       const CarbonInputs& inputs, Watts tdp, const WallPower& wall) {
  const Grams silicon = SiliconCarbon(bill, device, inputs);
  const Bytes capacity = Figure("Memory of a device", bill.memory.stack_capacity * Ratio(bill.memory.stacks));
  const Grams memory = Figure("Embodied carbon of the memory", capacity * bill.memory.carbon);
  Grams carrier;
  if (bill.package.carrier) {
    carrier = Figure("Embodied carbon of the interposer, bridges or RDL",
                     geometry.package.carriers * geometry.package.carrier_area * bill.package.carrier->carbon);
  }
  const Grams substrate =
      Figure("Embodied carbon of the package substrate", geometry.package.substrate_area * inputs.laminate);
  const Grams board = Figure("Embodied carbon of the board", bill.board_area * inputs.laminate, "",
                             "Boavizta and ADEME 2025, graphics cards");
  const Grams heat_sink = Figure("Embodied carbon of the heat sink", tdp * inputs.heat_sink_mass * inputs.heat_sink,
                                 "mass proportional to TDP; primary aluminum", "International Aluminium Institute");
  const Grams regulators =
      Figure("Embodied carbon of voltage regulators and connectors", tdp * inputs.regulators, "", kFootprint);
  const Grams assembled = Figure("Embodied carbon of the parts", silicon + memory + carrier + substrate +
                                                                     inputs.package + board + heat_sink + regulators);
  const Grams assembly = Figure("Carbon of assembly and test", inputs.assembly * assembled, "", kFootprint);
  const Grams embodied = Figure("Embodied carbon per device", assembled + assembly,
                                "cradle to gate; excludes the server around the device");
  const Grams server = Figure("Embodied carbon of a device's share of its server", wall.rated * inputs.system,
                              "by rated power, as an AWS p4de.24xlarge without its devices; estimate",
                              "EcoLogits 1.0 with BoaviztAPI, 2024");
  const Grams network = Figure("Embodied carbon of a device's share of the network", wall.network * inputs.system,
                               "by power, as a server; estimate");
  const Grams of_system = Figure("Embodied carbon per device with its server and network", embodied + server + network);
  const GramsPerSecond operation = Figure("Operational carbon rate per device", wall.mean * inputs.grid_intensity);
  return {{{"dies", silicon},
           {"memory", memory},
           {"package carrier", carrier},
           {"package substrate", substrate},
           {"packaging", inputs.package},
           {"board", board},
           {"heat sink", heat_sink},
           {"voltage regulators", regulators},
           {"assembly and test", assembly}},
          embodied,
          server,
          network,
          of_system,
          operation,
          Figure("Operational carbon per GPU-hour", operation * (1 * kHour))};
}

}  // namespace slipstick
