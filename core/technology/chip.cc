#include "core/technology/chip.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

// Constants at 7 nm; areas from the die shots and transistor counts that LLMCompass cites, scaled to GA100's units.
constexpr double kRegisterAreaPerByte = 8 * 6.1e-7;  // mm^2
constexpr double kL1AreaPerByte = 8 * 2.6e-7;        // mm^2
constexpr double kL2AreaPerByte = 8 * 2.96e-7;       // mm^2, tags and control included: 119.31 mm^2 for 48 MiB
constexpr JoulesPerByte kL2Energy = 0.8 * kPJPerBit;
constexpr Hertz kBaseClock = 1.41 * kGHz;
constexpr Bytes kL1BytesPerClock = 128 * kB;
constexpr Bytes kSliceBytesPerClock = 64 * kB;
constexpr double kVoltageBelow = 0.2, kVoltageAbove = 0.15;  // range around the nominal one, in volts
constexpr double kRound = 1e-9;                              // so that 128 * (108 / 128) is 108

// Frequency over the nominal one at voltage v (over the nominal one): (v - t)^2 / v, the long-channel law.
double Speed(double v, double threshold) {
  const double nominal = (1 - threshold) * (1 - threshold);
  return v > threshold ? (v - threshold) * (v - threshold) / v / nominal : 0;
}

Count Whole(double value) { return static_cast<Count>(std::floor(value + kRound)); }

}  // namespace

OperatingPoint OperateUnder(Watts budget, Count units, const UnitTemplate& unit, const TechnologyNode& node) {
  const double low = std::max(1 - kVoltageBelow / node.nominal_voltage, node.threshold);
  const double high = 1 + kVoltageAbove / node.nominal_voltage;
  const Watts one = unit.energy * node.energy * kBaseClock;  // of a unit at the nominal voltage and clock
  const auto power = [&](double v) { return one * ((1 - node.leakage) * Speed(v, node.threshold) * v * v + node.leakage * v); };
  OperatingPoint point;
  if (units <= 0) return point;
  // More units at a lower voltage do more with the same power, down to the lowest voltage; beyond, each further unit
  // only leaks. So all run, or as many as the lowest voltage feeds.
  const Count fed = Whole(budget / power(low));
  if (fed < 1) {
    // Not even one unit at the lowest voltage: it is clocked down until the power suffices, unless leakage alone exceeds it.
    const double left = budget / one - node.leakage * low;
    if (left > 0) point = {low, kBaseClock * (left / ((1 - node.leakage) * low * low)), 1, budget};
    return point;
  }
  point.units = std::min(units, fed);
  const Watts each = budget / static_cast<double>(point.units);
  double v = high;
  if (power(high) > each) {
    double below = low, above = high;
    for (int i = 0; i < 60; ++i) {
      const double middle = (below + above) / 2;
      (power(middle) <= each ? below : above) = middle;
    }
    v = below;
  }
  point.voltage = v;
  point.clock = kBaseClock * Speed(v, node.threshold);
  point.used = static_cast<double>(point.units) * power(v);
  // One unit more at the lowest voltage, clocked down to what is left, may bring more than the voltage above the lowest.
  if (point.units < units) {
    const double more = static_cast<double>(point.units + 1);
    const double share = (budget / (more * one) - node.leakage * low) / ((1 - node.leakage) * low * low);
    if (share > 0 && more * share * kBaseClock > static_cast<double>(point.units) * point.clock) {
      point = {low, kBaseClock * share, point.units + 1, budget};
    }
  }
  return point;
}

Result<DerivedChip> Derive(const ChipDesign& design, const std::string& path, Trace& trace) {
  Issues issues;
  const TechnologyNode& node = design.node;
  const UnitTemplate& unit = design.unit;
  Trace::Scope scope(trace, "technology");
  DerivedChip chip;
  const double logic = node.logic_area, sram = node.sram_area, analog = node.analog_area;
  trace.Input("logic", logic, path + ".node.logic_area");
  trace.Input("sram", sram, path + ".node.sram_area");
  trace.Input("analog", analog, path + ".node.analog_area");

  // Compute units.
  const SquareMillimetres die_area = design.area, logic_at_7nm = unit.tensor_area + unit.vector_area + unit.control_area;
  const SquareMillimetres storage_at_7nm = (unit.registers.base() * kRegisterAreaPerByte + unit.l1.base() * kL1AreaPerByte) * kMm2;
  const double core_share = design.area_split.core;
  trace.Input("die_area", die_area, path + ".area");
  trace.Input("core_share", core_share, path + ".area_split.core");
  FIGURE(trace, unit_area, logic_at_7nm * logic + storage_at_7nm * sram,
         (Note{"Area of a compute unit", "logic and SRAM scale separately with the node"}), logic_at_7nm, logic, storage_at_7nm, sram);
  FIGURE(trace, units_that_fit, core_share * die_area / unit_area, (Note{"Compute units that fit the area"}), core_share, die_area,
         unit_area);
  chip.units_built = Whole(units_that_fit);
  chip.units_enabled = Whole(static_cast<double>(chip.units_built) * design.units_enabled);
  const Watts core_power = design.power * design.power_split.core;
  const OperatingPoint point = OperateUnder(core_power, chip.units_enabled, unit, node);
  chip.voltage = point.voltage;

  Device& device = chip.device;
  device.name = design.name;
  device.units = point.units;
  device.clock = point.clock;
  if (point.units == 0) {
    issues.push_back({chip.units_enabled == 0 ? path + ".area_split.core" : path + ".power_split.core",
                      chip.units_enabled == 0 ? "no compute unit of " + NumberText(unit_area.base()) + " mm^2 fits in the core area"
                                              : "the core's " + NumberText(core_power.base()) + " W is less than the leakage of one unit"});
    return issues;
  }
  const auto running_units = static_cast<double>(device.units);
  const Hertz clock = device.clock;
  const Flops unit_flops = static_cast<double>(unit.flops_per_clock) * kFlop;
  FIGURE(trace, matrix_rate, running_units * unit_flops * clock,
         (Note{"Dense 16-bit peak throughput", "all running units, every clock; the clock is the highest that the core power allows"}),
         running_units, unit_flops, clock);
  device.peak = {};
  device.peak.bf16 = device.peak.fp16 = matrix_rate;
  const auto rate = [&](double over) { return over > 0 ? std::optional(matrix_rate * over) : std::nullopt; };
  device.peak.fp32 = rate(unit.fp32);
  device.peak.tf32 = rate(unit.tf32);
  device.peak.fp8 = rate(unit.fp8);
  device.peak.int8 = rate(unit.int8);
  device.peak.fp4 = rate(unit.fp4);

  // Caches.
  const double l2_bytes = design.area_split.l2 * die_area.base() * design.l2_enabled / (kL2AreaPerByte * sram);
  chip.l2_slices = Whole(l2_bytes / unit.l2_slice.base());
  const auto slices = static_cast<double>(chip.l2_slices);
  const Watts l2_power = design.power * design.power_split.l2;
  const double wire_energy = 0.5 + 0.5 * node.energy;  // half of a cache access is wires, which do not scale
  const Hertz l2_clock = kBaseClock * node.speed;
  const Bytes slice_bytes = kSliceBytesPerClock;
  const JoulesPerByte l2_energy = kL2Energy * wire_energy;
  FIGURE(trace, l2_rate, min(slices * slice_bytes * l2_clock, l2_power / l2_energy),
         (Note{"L2-cache bandwidth", "limited by the slices or by the L2 power"}), slices, slice_bytes, l2_clock, l2_power, l2_energy);
  device.caches = {{"L1", running_units * unit.l1, running_units * kL1BytesPerClock * clock}};
  if (chip.l2_slices > 0) device.caches.push_back({"L2", slices * unit.l2_slice, l2_rate});

  // Memory beside the die.
  const Millimetres edge = 4 * sqrt(die_area);
  const SquareMillimetres site_area = design.dram.phy_area * analog + design.dram.controller_area * logic;
  const double by_edge = design.edge_split.memory * edge / design.dram.shore;
  const double by_package =
      design.dram.package_area.base() > 0 ? max(0.0, (design.package_area - die_area) / design.dram.package_area) : by_edge;
  const double by_area = design.area_split.memory * die_area / site_area;
  FIGURE(trace, memory_sites, floor(min(by_edge, by_package, by_area)),
         (Note{"Memory sites", "as many as the shoreline, the package and the die area all allow"}), by_edge, by_package, by_area);
  chip.memory_sites = static_cast<Count>(memory_sites);
  const double stacks = std::floor(memory_sites * design.memory_enabled + kRound);
  const Watts memory_power = design.power * design.power_split.memory;
  const BytesPerSecond stack_rate = design.dram.bandwidth;
  const JoulesPerByte dram_energy = design.dram.energy;
  FIGURE(trace, memory_rate, min(stacks * stack_rate, memory_power / dram_energy),
         (Note{"Memory bandwidth", "limited by the stacks or by the memory power"}), stacks, stack_rate, memory_power, dram_energy);
  if (!(memory_rate > 0 * kBps)) {
    issues.push_back({path + ".edge_split.memory", "no memory site fits: the edge allows " + NumberText(by_edge) + ", the package " +
                                                       NumberText(by_package) + ", the die's area " + NumberText(by_area) + ", of which " +
                                                       NumberText(design.memory_enabled) + " are enabled; or its power share is 0"});
    return issues;
  }
  device.memory = {design.dram.name, stacks * design.dram.capacity, std::nullopt, memory_rate};

  // Links.
  const SquareMillimetres link_area = design.link.phy_area * analog + design.link.controller_area * logic;
  const double links_by_area = design.area_split.network * die_area / link_area;
  const double links_by_edge = design.edge_split.network * edge / design.link.shore;
  FIGURE(trace, links, floor(min(links_by_area, links_by_edge)), (Note{"Links", "as many as the die area and the shoreline allow"}),
         links_by_area, links_by_edge);
  chip.links = static_cast<Count>(links);
  const Watts network_power = design.power * design.power_split.network;
  const BytesPerSecond link_rate = design.link.bandwidth;
  const JoulesPerByte both_ways = 2 * design.link.energy;
  FIGURE(trace, network_rate, min(links * link_rate, network_power / both_ways),
         (Note{"Network bandwidth", "all links together, one direction"}), links, link_rate, network_power, both_ways);
  chip.network = network_rate;

  device.tdp = design.power;
  device.idle = design.power * 0.1;
  device.die = {die_area, node.name, 1};
  const Bytes l2_built = slices / design.l2_enabled * unit.l2_slice;
  chip.area_used = static_cast<double>(chip.units_built) * unit_area + l2_built.base() * kL2AreaPerByte * sram * kMm2 +
                   memory_sites * site_area + links * link_area;
  chip.power_used = point.used + l2_rate * l2_energy + memory_rate * dram_energy + network_rate * both_ways;
  return chip;
}

}  // namespace slipstick
