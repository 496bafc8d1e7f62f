// One-off design costs, shared over volume and over the products that use a design.
#include <algorithm>
#include <string>

#include "core/base/sum.h"
#include "core/economics/device_bill.h"

namespace slipstick {
namespace {

constexpr SquareMillimetres kReferenceArea = 300 * kMm2;  // of the die that node.design prices

SquareMillimetres ModuleArea(SquareMillimetres area, SquareMillimetres link_area, Trace& trace) {
  if (link_area == SquareMillimetres()) {
    trace.Alias("module_area", area, "area");
    return area;
  }
  FIGURE(trace, module_area, max(area - link_area, 0 * area), (Note{"Area of the die without its links"}), area,
         link_area);
  return module_area;
}

void AddDieDesign(const DeviceBill& bill, std::size_t index, bool has_links, DesignCost& cost,
                  RunningSum<Dollars>& share, Trace& trace) {
  const DieInput& die = bill.dies[index];
  const Trace::Scope scope(trace, die.name);
  const SquareMillimetres reference_area = kReferenceArea;
  const double volume = static_cast<double>(bill.design.volume), reuse = die.reuse;
  const double module_share = bill.design.module_share, chip_share = bill.design.chip_share;
  const Dollars node_design = die.node.design;
  // The link interfaces are a module of their own, priced by AddLinkDesigns.
  const SquareMillimetres area = die.area;
  if (trace.on()) {
    const std::string input = "cost.device.dies." + std::to_string(index) + ".";
    trace.Input("node_design", node_design, input + "node.design");
    trace.Input("area", area, input + "area");
    trace.Input("reuse", reuse, input + "reuse");
  }
  const SquareMillimetres module_area =
      ModuleArea(area, has_links ? bill.design.link_area : SquareMillimetres(), trace);
  FIGURE(trace, fixed_share, max(0.0, 1 - module_share - chip_share),
         (Note{"Share of the design cost that no area changes"}), module_share, chip_share);
  FIGURE(trace, die_design,
         node_design * ((module_share * module_area + chip_share * area) / reference_area + fixed_share),
         (Note{"Design cost of this die",
               "masks included: the modules without the links, the chip with them, and a fixed share",
               "Feng and Ma, DAC 2022"}),
         node_design, module_share, module_area, chip_share, area, reference_area, fixed_share);
  FIGURE(trace, die_design_share, die_design / (volume * reuse),
         (Note{"Design cost per package", "shared with the other products that use the same die"}), die_design, volume,
         reuse);
  cost.total += die_design;
  share.Add("die_design_share", die_design_share);
}

// One die-to-die interface per process node.
void AddLinkDesigns(const DeviceBill& bill, DesignCost& cost, RunningSum<Dollars>& share, Trace& trace) {
  const double volume = static_cast<double>(bill.design.volume), module_share = bill.design.module_share;
  const SquareMillimetres link_area = bill.design.link_area, reference_area = kReferenceArea;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const auto same = [&](const DieInput& other) { return other.node.name == bill.dies[i].node.name; };
    if (std::any_of(bill.dies.begin(), bill.dies.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    const Trace::Scope scope(trace, bill.dies[i].node.name);
    const Dollars node_design = bill.dies[i].node.design;
    if (trace.on()) trace.Input("node_design", node_design, "cost.device.dies." + std::to_string(i) + ".node.design");
    FIGURE(trace, link_design, node_design * module_share * link_area / reference_area,
           (Note{"Design cost of the die-to-die interface", "once per node", "Feng and Ma, DAC 2022"}), node_design,
           module_share, link_area, reference_area);
    FIGURE(trace, link_design_share, link_design / volume, (Note{"Design cost of the interface per package"}),
           link_design, volume);
    cost.total += link_design;
    share.Add("link_design_share", link_design_share);
  }
}

}  // namespace

DesignCost PriceDesign(const DeviceBill& bill, const DeviceGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "design");
  if (trace.on()) {
    trace.Input("volume", static_cast<double>(bill.design.volume), "cost.device.design.volume");
    trace.Input("module_share", bill.design.module_share, "cost.device.design.module_share");
    trace.Input("chip_share", bill.design.chip_share, "cost.device.design.chip_share");
    trace.Input("link_area", bill.design.link_area, "cost.device.design.link_area");
    const SquareMillimetres reference_area = kReferenceArea;
    CONSTANTS(trace, "design", "the die that the design cost of a node is stated for", reference_area);
  }
  DesignCost cost;
  RunningSum<Dollars> share(trace, "design_share", "share_before", Note{"Design cost per package so far"});
  Count dies = 0;
  for (const DieInput& die : bill.dies) dies += die.count;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) AddDieDesign(bill, i, dies > 1, cost, share, trace);
  if (dies > 1) AddLinkDesigns(bill, cost, share, trace);
  const DollarsPerArea design_price = bill.package.design;
  const Dollars design_fixed = bill.package.design_fixed;
  const SquareMillimetres design_area = geometry.package.design_area;
  if (trace.on()) {
    trace.Input("design_price", design_price, "cost.device.package.design");
    trace.Input("design_fixed", design_fixed, "cost.device.package.design_fixed");
  }
  FIGURE(trace, package_design, design_price * design_area + design_fixed,
         (Note{"Design cost of the package", "", "Feng and Ma, DAC 2022"}), design_price, design_area, design_fixed);
  const double volume = static_cast<double>(bill.design.volume);
  FIGURE(trace, package_design_share, package_design / volume, (Note{"Design cost of the package, per package"}),
         package_design, volume);
  cost.total += package_design;
  share.Add("package_design_share", package_design_share);
  cost.share = share.sum();
  return cost;
}

}  // namespace slipstick
