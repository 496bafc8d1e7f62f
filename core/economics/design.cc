// One-off design costs, shared over volume and over the products that use a design.
#include <algorithm>

#include "core/base/figure.h"
#include "core/economics/device_bill.h"

namespace slipstick {
namespace {

constexpr SquareMillimetres kReferenceArea = 300 * kMm2;  // of the die for which node.design is the price
constexpr std::string_view kSource = "Feng and Ma, DAC 2022; the design cost of a node is that of a die of 300 mm^2";

// `link_area`: area of the interfaces on the die, a separate module that LinkDesign prices.
Dollars DieDesign(const DieInput& die, const Design& design, SquareMillimetres link_area) {
  const SquareMillimetres modules =
      Figure("Area of the die without its links", max(die.area - link_area, SquareMillimetres()));
  const Ratio fixed_share =
      Figure("Share of the design cost that no area changes", max(0, 1 - design.module_share - design.chip_share));
  return Figure(
      "Design cost of this die",
      die.node.design * ((design.module_share * modules + design.chip_share * die.area) / kReferenceArea + fixed_share),
      "masks included: the modules without the links, the chip with them, and a fixed share", kSource);
}

Dollars LinkDesign(const ProcessNode& node, const Design& design) {
  return Figure("Design cost of the die-to-die interface",
                node.design * design.module_share * design.link_area / kReferenceArea, "once per node", kSource);
}

}  // namespace

DesignCost PriceDesign(const DeviceBill& bill, const DeviceGeometry& geometry) {
  const Design& design = bill.design;
  const Ratio volume = design.volume;
  DesignCost cost;
  Count count = 0;
  for (const DieInput& die : bill.dies) count += die.count;
  const bool has_links = count > 1;
  for (const DieInput& die : bill.dies) {
    const Dollars one = DieDesign(die, design, has_links ? design.link_area : SquareMillimetres());
    cost.total += one;
    cost.share += Figure("Design cost per package", one / (volume * die.reuse),
                         "shared with the other products that use the same die");
  }
  for (auto die = bill.dies.begin(); has_links && die != bill.dies.end(); ++die) {
    const auto same = [&](const DieInput& other) { return other.node.name == die->node.name; };
    if (std::any_of(bill.dies.begin(), die, same)) continue;
    const Dollars link = LinkDesign(die->node, design);
    cost.total += link;
    cost.share += Figure("Design cost of the interface per package", link / volume);
  }
  const Dollars package =
      Figure("Design cost of the package",
             bill.package.design * geometry.package.design_area + bill.package.design_fixed, "", kSource);
  cost.total += package;
  cost.share += Figure("Design cost of the package, per package", package / volume);
  cost.share = Figure("Share of the design cost, per package", cost.share);
  return cost;
}

}  // namespace slipstick
