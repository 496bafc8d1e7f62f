// One-off design costs, shared over volume and over the products that use a design.
#include <algorithm>

#include "core/economics/device_bill.h"

namespace slipstick {
namespace {

constexpr SquareMillimetres kReferenceArea = 300 * kMm2;  // of the die that node.design prices

void AddDieDesign(const DeviceBill& bill, std::size_t index, bool has_links, DesignCost& cost, Trace& trace) {
  const DieInput& die = bill.dies[index];
  const Trace::Scope scope(trace, die.name);
  const SquareMillimetres reference_area = kReferenceArea;
  const double volume = static_cast<double>(bill.design.volume), reuse = die.reuse;
  const double module_share = bill.design.module_share, chip_share = bill.design.chip_share;
  const double fixed_share = std::max(0.0, 1 - module_share - chip_share);
  const Dollars node_design = die.node.design;
  // The link interfaces are a module of their own, priced by AddLinkDesigns.
  const SquareMillimetres area = die.area, module_area = has_links ? max(area - bill.design.link_area, SquareMillimetres()) : area;
  if (trace.on()) {
    const std::string input = "cost.device.dies." + std::to_string(index) + ".";
    trace.Input("node_design", node_design, input + "node.design");
    trace.Input("area", area, input + "area");
    trace.Input("reuse", reuse, input + "reuse");
  }
  FIGURE(trace, die_design, node_design * ((module_share * module_area + chip_share * area) / reference_area + fixed_share),
         (Note{"Design cost of this die", "masks included: the modules without the links, the chip with them, and a fixed share",
               "Feng and Ma, DAC 2022"}),
         node_design, module_share, module_area, chip_share, area, reference_area, fixed_share);
  FIGURE(trace, die_design_share, die_design / (volume * reuse),
         (Note{"Design cost per package", "shared with the other products that use the same die"}), die_design, volume, reuse);
  cost.total += die_design;
  cost.share += die_design_share;
}

// One die-to-die interface per process node.
void AddLinkDesigns(const DeviceBill& bill, DesignCost& cost, Trace& trace) {
  const double volume = static_cast<double>(bill.design.volume), module_share = bill.design.module_share;
  const SquareMillimetres link_area = bill.design.link_area, reference_area = kReferenceArea;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const auto same = [&](const DieInput& other) { return other.node.name == bill.dies[i].node.name; };
    if (std::any_of(bill.dies.begin(), bill.dies.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    const Dollars node_design = bill.dies[i].node.design;
    FIGURE(trace, link_design, node_design * module_share * link_area / reference_area,
           (Note{"Design cost of the die-to-die interface", "once per node", "Feng and Ma, DAC 2022"}), node_design, module_share,
           link_area, reference_area);
    cost.total += link_design;
    cost.share += link_design / volume;
  }
}

}  // namespace

DesignCost PriceDesign(const DeviceBill& bill, const DeviceGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "design");
  if (trace.on()) {
    trace.Input("volume", static_cast<double>(bill.design.volume), "cost.device.design.volume");
    trace.Input("module_share", bill.design.module_share, "cost.device.design.module_share");
    trace.Input("chip_share", bill.design.chip_share, "cost.device.design.chip_share");
  }
  DesignCost cost;
  Count dies = 0;
  for (const DieInput& die : bill.dies) dies += die.count;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) AddDieDesign(bill, i, dies > 1, cost, trace);
  if (dies > 1) AddLinkDesigns(bill, cost, trace);
  const DollarsPerArea design_price = bill.package.design;
  const Dollars design_fixed = bill.package.design_fixed;
  const SquareMillimetres design_area = geometry.package.design_area;
  if (trace.on()) {
    trace.Input("design_price", design_price, "cost.device.package.design");
    trace.Input("design_fixed", design_fixed, "cost.device.package.design_fixed");
  }
  FIGURE(trace, package_design, design_price * design_area + design_fixed,
         (Note{"Design cost of the package", "", "Feng and Ma, DAC 2022"}), design_price, design_area, design_fixed);
  cost.total += package_design;
  cost.share += package_design / static_cast<double>(bill.design.volume);
  return cost;
}

}  // namespace slipstick
