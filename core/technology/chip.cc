#include "core/technology/chip.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/fix.h"

namespace slipstick {
namespace {

// Frequency at voltage v, both relative to nominal: (v - t)^2 / v, the long-channel law.
double Speed(double v, double threshold) {
  const double nominal = (1 - threshold) * (1 - threshold);
  return v > threshold ? (v - threshold) * (v - threshold) / v / nominal : 0;
}

// The unit with as many tensor cores per vector lane as its ratio states. Their operand traffic scales with them, so
// the energy per clock of dense work does, too.
UnitTemplate WithTensorCores(UnitTemplate unit) {
  const double ratio = unit.tensor_to_vector;
  unit.flops_per_clock = static_cast<Count>(std::round(static_cast<double>(unit.flops_per_clock) * ratio));
  unit.fp32 /= ratio;
  unit.tensor_area = unit.tensor_area * ratio;
  unit.energy = unit.energy * ratio;
  return unit;
}

Count Floor(double value) { return static_cast<Count>(WholeBelow(value)); }

}  // namespace

OperatingPoint OperateUnder(Watts budget, Count units, const UnitTemplate& unit, const TechnologyNode& node) {
  const double low = std::max(1 - unit.voltage_below / node.nominal_voltage, node.threshold);
  const double high = 1 + unit.voltage_above / node.nominal_voltage;
  const Watts one = unit.energy * node.energy * unit.clock;  // one unit at nominal voltage and clock
  const auto power = [&](double v) {
    return one * ((1 - node.leakage) * Speed(v, node.threshold) * v * v + node.leakage * v);
  };
  OperatingPoint point;
  if (units <= 0) return point;
  // More units at a lower voltage do more work per watt, down to the lowest voltage; at that voltage each further unit
  // only leaks. So all units run, or as many as the power can feed at the lowest voltage.
  const Count fed = Floor(budget / power(low));
  if (fed < 1) {
    // Less than one unit at the lowest voltage: clock it down, unless leakage alone exceeds the power.
    const double left = budget / one - node.leakage * low;
    if (left > 0) point = {low, unit.clock * (left / ((1 - node.leakage) * low * low)), 1, budget};
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
  point.clock = unit.clock * Speed(v, node.threshold);
  point.used = static_cast<double>(point.units) * power(v);
  // One more unit at the lowest voltage, clocked down, may do more than a higher voltage.
  if (point.units < units) {
    const double more = static_cast<double>(point.units + 1);
    const double share = (budget / (more * one) - node.leakage * low) / ((1 - node.leakage) * low * low);
    if (share > 0 && more * share * unit.clock > static_cast<double>(point.units) * point.clock) {
      point = {low, unit.clock * share, point.units + 1, budget};
    }
  }
  return point;
}

namespace {

// A chip during its derivation: the values of the design, and the budgets used so far.
class ChipBuilder {
 public:
  ChipBuilder(const ChipDesign& design, const std::optional<ChipDies>& dies, const std::string& path)
      : design_(design),
        dies_(dies.value_or(ChipDies{design.area, 4 * sqrt(design.area), {}, {}})),
        power_(max(design.power - dies_.link_power, Watts())),
        path_(path),
        logic_(design.node.logic_area),
        sram_(design.node.sram_area),
        analog_(design.node.analog_area) {}

  Result<DerivedChip> Build() {
    AddComputeUnits();
    if (issues_.empty()) AddCaches();
    if (issues_.empty()) AddMemory();
    if (!issues_.empty()) return issues_;
    AddLinks();
    Device& device = chip_.device;
    device.tdp = design_.power;
    device.idle = design_.power * design_.idle_share;
    device.die = {design_.area, design_.node.name, 1, {}};
    return chip_;
  }

 private:
  void AddComputeUnits() {
    const UnitTemplate unit = WithTensorCores(design_.unit);
    const SquareMillimetres logic_at_7nm = unit.tensor_area + unit.vector_area + unit.control_area;
    const SquareMillimetres storage_at_7nm =
        (unit.registers.base() * unit.register_area + unit.l1.base() * unit.l1_area) * kMm2;
    const SquareMillimetres unit_area = logic_at_7nm * logic_ + storage_at_7nm * sram_;
    chip_.units_built = Floor(design_.area_split.core * design_.area / unit_area);
    chip_.units_enabled = Floor(static_cast<double>(chip_.units_built) * design_.units_enabled);
    chip_.unit_area = unit_area;
    chip_.area_used = static_cast<double>(chip_.units_built) * unit_area;
    const Watts core_power = power_ * design_.power_split.core;
    const OperatingPoint point = OperateUnder(core_power, chip_.units_enabled, unit, design_.node);
    chip_.voltage = point.voltage;
    chip_.power_used = point.used;
    if (point.units == chip_.units_enabled) chip_.core_unused = core_power - point.used;

    Device& device = chip_.device;
    device.name = design_.name;
    device.units = point.units;
    device.clock = point.clock;
    if (chip_.units_enabled == 0) {
      issues_.push_back({path_ + ".area_split.core",
                         "No compute unit of " + TenthsText(unit_area.base()) + " mm^2 fits in the core area"});
    } else if (point.units == 0) {
      issues_.push_back({path_ + ".power_split.core",
                         "The core's " + TenthsText(core_power.base()) + " W are less than one unit leaks"});
    }
    if (!issues_.empty()) return;
    const auto running_units = static_cast<double>(device.units);
    const Flops unit_flops = static_cast<double>(unit.flops_per_clock) * kFlop;
    const FlopsPerSecond matrix_rate = running_units * unit_flops * device.clock;
    device.peak = {};
    device.peak.bf16 = device.peak.fp16 = matrix_rate;
    const auto rate = [&](double over) { return over > 0 ? std::optional(matrix_rate * over) : std::nullopt; };
    device.peak.fp32 = rate(unit.fp32);
    device.peak.tf32 = rate(unit.tf32);
    device.peak.fp8 = rate(unit.fp8);
    device.peak.int8 = rate(unit.int8);
    device.peak.fp4 = rate(unit.fp4);
  }

  void AddCaches() {
    const UnitTemplate& unit = design_.unit;
    const double l2_bytes = design_.area_split.l2 * design_.area.base() * design_.l2_enabled / (unit.l2_area * sram_);
    // The nearest whole number, adjusted to the area: rounding only down would cause jumps if there are few slices.
    chip_.l2_slices = Floor(l2_bytes / unit.l2_slice.base() + 0.5);
    const auto slices = static_cast<double>(chip_.l2_slices);
    if (chip_.l2_slices == 0) {
      issues_.push_back({path_ + ".area_split.l2",
                         "Not one L2 slice of " + NumberText(In(unit.l2_slice, kKiB)) +
                             " KiB fits in the L2 area, and memory is reached through them",
                         {SetToBase(path_ + ".area_split.l2", unit.l2_slice.base() * unit.l2_area * sram_ /
                                                                  (design_.area.base() * design_.l2_enabled))}});
      return;
    }
    const Bytes l2_capacity = min(slices * unit.l2_slice, Bytes::FromBase(l2_bytes));
    const Watts l2_power = power_ * design_.power_split.l2;
    const double wire_energy = 0.5 + 0.5 * design_.node.energy;  // half of a cache access is wires, which do not scale
    const Hertz l2_clock = unit.clock * design_.node.speed;
    const JoulesPerByte l2_energy = unit.l2_energy * wire_energy;
    const BytesPerSecond l2_rate = min(slices * unit.l2_rate * l2_clock, l2_power / l2_energy);
    Device& device = chip_.device;
    const auto running_units = static_cast<double>(device.units);
    device.caches = {{"L1", running_units * unit.l1, running_units * unit.l1_rate * device.clock}};
    if (!(l2_rate > BytesPerSecond{})) {
      issues_.push_back({path_ + ".power_split.l2",
                         "Give the L2 a share of the power to be read with",
                         {SetToBase(path_ + ".power_split.l2", design_.area_split.l2)}});
    }
    device.caches.push_back({"L2", l2_capacity, l2_rate});
    const Bytes l2_built = l2_capacity / design_.l2_enabled;
    chip_.area_used += l2_built.base() * unit.l2_area * sram_ * kMm2;
    chip_.power_used += l2_rate * l2_energy;
  }

  // Counts the sites that the budgets allow.
  void CountSites() {
    const DramType& dram = design_.dram;
    const SquareMillimetres site_area = dram.phy_area * analog_ + dram.controller_area * logic_;
    const double widest_bus = static_cast<double>(dram.max_chips);
    const bool takes_package = dram.in_package && dram.package_area.base() > 0;
    const double by_edge = design_.edge_split.memory * dies_.shoreline / dram.shore;
    const double by_package =
        min(widest_bus,
            takes_package ? max(0.0, (design_.package_area - dies_.silicon) / dram.package_area) : Ratio(widest_bus));
    const double by_area = design_.area_split.memory * design_.area / site_area;
    const double memory_sites = floor(min(by_edge, by_package, by_area));
    DramBudget& memory = chip_.memory;
    memory.by_shoreline = by_edge;
    memory.by_package = by_package;
    memory.by_area = by_area;
    memory.sites_bound = by_edge <= by_package && by_edge <= by_area ? "shoreline"
                         : by_area <= by_package                     ? "area"
                         : by_package < widest_bus                   ? "package"
                                                                     : "bus";
    chip_.memory_sites = memory.sites = static_cast<Count>(memory_sites);
    const Count usable = Floor(memory_sites * design_.memory_enabled) / dram.group * dram.group;
    memory.wanted = design_.stacks;
    memory.stacks = std::min(usable, design_.stacks.value_or(usable));
    chip_.area_used += memory_sites * site_area;
  }

  [[nodiscard]] Issue NoMemorySite() const {
    const DramBudget& memory = chip_.memory;
    const std::string scarce = memory.sites_bound == "shoreline" ? ".edge_split.memory"
                               : memory.sites_bound == "area"    ? ".area_split.memory"
                                                                 : ".package_area";
    return {path_ + scarce, "No memory site fits: the shoreline has room for " + TenthsText(memory.by_shoreline) +
                                ", the package for " + TenthsText(memory.by_package) + ", the die area for " +
                                TenthsText(memory.by_area) + ", and " +
                                NumberText(std::round(100 * design_.memory_enabled)) + " % of what fits is enabled"};
  }
  [[nodiscard]] Issue NoPowerForMemory() const {
    const std::string path = path_ + ".power_split.memory";
    return {path, "Give the memory a share of the power", {SetToBase(path, design_.area_split.memory)}};
  }

  void AddMemory() {
    CountSites();
    const DramType& dram = design_.dram;
    DramBudget& memory = chip_.memory;
    const double stacks = static_cast<double>(memory.stacks);
    const Watts memory_power = power_ * design_.power_split.memory;
    memory.of_stacks = stacks * dram.bandwidth;
    memory.of_power = memory_power / dram.energy;
    memory.of_links = dies_.memory_limit;
    const BytesPerSecond memory_rate =
        min(memory.of_stacks, memory.of_power, memory.of_links.value_or(memory.of_stacks));
    memory.reached = memory_rate;
    memory.bound = memory_rate >= memory.of_stacks ? "stacks" : memory_rate >= memory.of_power ? "power" : "links";
    if (!(memory_rate > 0 * kBps)) {
      issues_.push_back(memory.stacks > 0 ? NoPowerForMemory() : NoMemorySite());
      return;
    }
    chip_.device.memory = {dram.name, stacks * dram.capacity, std::nullopt, memory_rate};
    chip_.power_used += memory_rate * dram.energy;
  }

  void AddLinks() {
    const SquareMillimetres link_area = design_.link.phy_area * analog_ + design_.link.controller_area * logic_;
    const double links_by_area = design_.area_split.network * design_.area / link_area;
    const double links_by_edge = design_.edge_split.network * dies_.shoreline / design_.link.shore;
    const double links = floor(min(links_by_area, links_by_edge));
    chip_.links = static_cast<Count>(links);
    const Watts network_power = power_ * design_.power_split.network;
    const JoulesPerByte both_ways = 2 * design_.link.energy;
    const BytesPerSecond network_rate = min(links * design_.link.bandwidth, network_power / both_ways);
    chip_.network = network_rate;
    chip_.area_used += links * link_area;
    chip_.power_used += network_rate * both_ways;
  }

  const ChipDesign& design_;
  const ChipDies dies_;
  const Watts power_;  // for the circuits
  const std::string& path_;
  const double logic_, sram_, analog_;
  Issues issues_;
  DerivedChip chip_;
};

}  // namespace

Result<DerivedChip> Derive(const ChipDesign& design, const std::optional<ChipDies>& dies, const std::string& path) {
  return ChipBuilder(design, dies, path).Build();
}

namespace {

struct BudgetShare {
  std::string member;
  double value;
};

// A share to four digits, so that it is short, and rounded down, so that the sum stays within the budget.
double Shortened(double share) { return WholeBelow(share * 10'000) / 10'000; }

// `path`: of the split.
void CheckBudget(const std::string& path, const std::string& whole, const std::vector<BudgetShare>& shares,
                 Issues& issues) {
  double sum = 0;
  std::string parts;
  const BudgetShare* largest = &shares.front();
  for (const BudgetShare& share : shares) {
    sum += share.value;
    parts += (parts.empty() ? "" : ", ") + share.member + " " + NumberText(share.value);
    if (share.value > largest->value) largest = &share;
  }
  if (sum <= 1 + kRoundingGuard) return;
  Issue issue{path, "At most 1 together: " + parts + " are " + NumberText(sum) + " times " + whole};
  const double left = Shortened(1 - (sum - largest->value));
  if (left > 0) issue.fixes.push_back(SetToBase(JoinPath(path, largest->member), left));
  Fix scaled;
  for (const BudgetShare& share : shares) {
    const Change change = SetToBase(JoinPath(path, share.member), Shortened(share.value / sum)).change;
    if (scaled.change.path.empty()) {
      scaled.change = change;
    } else {
      scaled.also.push_back(change);
    }
  }
  issue.fixes.push_back(std::move(scaled));
  issues.push_back(std::move(issue));
}

}  // namespace

Issues OverspentBudgets(const ChipDesign& design, const std::string& path) {
  Issues issues;
  const auto check = [&](const char* split, const char* whole, const auto& of) {
    CheckBudget(JoinPath(path, split), whole,
                {{"core", of.core}, {"l2", of.l2}, {"memory", of.memory}, {"network", of.network}}, issues);
  };
  check("area_split", "the die's area", design.area_split);
  check("power_split", "the power", design.power_split);
  const EdgeSplit& edge = design.edge_split;
  CheckBudget(JoinPath(path, "edge_split"), "the die's edge", {{"memory", edge.memory}, {"network", edge.network}},
              issues);
  return issues;
}

}  // namespace slipstick
