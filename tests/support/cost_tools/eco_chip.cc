#include "tests/support/cost_tools/eco_chip.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/cost_tools/gross_dies.h"

namespace slipstick::eco_chip {
namespace {

constexpr double kBond = 0.99;
constexpr SquareMillimetres kActiveRouter = 4.47 * kMm2, kRouter = 0.33 * kMm2, kBridgeArea = 25 * kMm2;

double Scale(const Chip& chip) { return chip.node.area_scale[static_cast<std::size_t>(chip.circuit)]; }

// Manufacturing carbon of a good die, without the wafer's rim.
Grams Make(SquareMillimetres area, const Node& node, PerArea defect_density) {
  return node.carbon * area / DieYield(area, defect_density);
}
Grams Make(SquareMillimetres area, const Node& node) { return Make(area, node, node.defect_density); }

// Carbon of the wafer area outside whole dies, per good die.
Grams Rim(SquareMillimetres area, const Node& node, const Settings& settings) {
  const SquareMillimetres wafer = std::numbers::pi / 4 * (settings.wafer * settings.wafer);
  const double dies = GrossLessEdge(area, settings.wafer / 2);
  const Grams rim = node.carbon * (wafer - std::floor(dies) * area);
  return settings.rim_of_all_dies ? rim / dies : rim / (std::floor(dies) * DieYield(area, node.defect_density));
}

Grams DesignOnce(SquareMillimetres area, const Node& node, const Product& product) {
  const double gates = area * node.transistors / product.transistors_per_gate;
  return product.intensity * (product.core_power * (gates / node.gates_per_hour * kHour));
}

struct Routers {
  Grams manufacture, design;
};
Routers PriceRouters(const std::vector<Chip>& chips, const Package& package, const Product& product,
                     const Settings& settings) {
  std::vector<SquareMillimetres> areas;
  SquareMillimetres all;
  bool one_node = true;
  for (const Chip& chip : chips) {
    areas.push_back(Scale(chip) * (kRouter / package.router_scale[static_cast<std::size_t>(chip.circuit)]));
    all += areas.back();
    one_node = one_node && chip.node.carbon == chips.front().node.carbon &&
               chip.node.defect_density == chips.front().node.defect_density;
  }
  Routers routers;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const Node& node = chips[i].node;
    const SquareMillimetres failing = settings.routers_as_one && one_node ? all : areas[i];
    routers.manufacture += node.carbon * areas[i] / DieYield(failing, node.defect_density);
    routers.design += DesignOnce(areas[i], node, product);
  }
  return routers;
}

// Vias take area from every chip of a stack.
Grams StackVias(const std::vector<Chip>& chips, const Package& package, const Settings& settings) {
  Grams vias;
  for (const Chip& chip : chips) {
    const SquareMillimetres area = Scale(chip) * chip.area;
    const double row = std::floor(sqrt(area) / package.via_pitch);
    const SquareMillimetres taken = row * row * (package.via_size * package.via_size);
    const double again = settings.stack_scaled_twice ? Scale(chip) : 1;
    vias += Make(again * (area + taken), chip.node) - Make(again * area, chip.node);
  }
  return vias;
}

Grams Bridges(double bridges, const Node& node, const Settings& settings) {
  const SquareMillimetres failing = settings.bridges_as_one ? bridges * kBridgeArea : kBridgeArea;
  return node.carbon * (bridges * kBridgeArea) / DieYield(failing, node.defect_density / 4) * node.wiring_share;
}

Footprint PricePackage(const std::vector<Chip>& chips, const Package& package, const Product& product,
                       const Settings& settings) {
  std::vector<SquareMillimetres> areas;
  for (const Chip& chip : chips) areas.push_back(Scale(chip) * chip.area);
  const FloorPlan plan = Plan(areas, package.bridge_pitch);
  const SquareMillimetres area = plan.sides[0] * plan.sides[1];
  const double n = static_cast<double>(chips.size());
  const Grams carrier =
      Make(area, package.carrier, package.carrier.defect_density / (settings.carrier_like_logic ? 1 : 4));
  if (package.scheme == Scheme::kActive) {
    const Grams routers = carrier * (n * kActiveRouter / area);
    return {((carrier - routers) * package.carrier.wiring_share + routers) / kBond, Grams(), Grams()};
  }
  const Routers routers = PriceRouters(chips, package, product, settings);
  Grams made;
  switch (package.scheme) {
    case Scheme::kRdl:
      made = carrier * package.carrier.wiring_share * (package.redistribution_layers / package.metal_layers);
      break;
    case Scheme::kBridge:
      made = Bridges(plan.bridges, package.bridge, settings);
      break;
    case Scheme::kStacked:
      made = StackVias(chips, package, settings);
      break;
    default:
      made = carrier * package.carrier.wiring_share;
  }
  const double bond = package.scheme == Scheme::kStacked ? std::pow(kBond, n) : kBond;
  return {(made + routers.manufacture) / bond, routers.design, Grams()};
}

}  // namespace

double DieYield(SquareMillimetres area, PerArea defect_density) {
  return std::pow(1 + defect_density * area / 10, -10);
}

FloorPlan Plan(std::vector<SquareMillimetres> areas, Millimetres bridge_pitch, int axis) {
  const std::size_t along = static_cast<std::size_t>(axis), across = 1 - along;
  FloorPlan plan;
  if (areas.size() == 1) {
    const Millimetres side = sqrt(areas.front() / 2);
    plan.sides[along] = 2 * side;
    plan.sides[across] = side;
    return plan;
  }
  std::sort(areas.begin(), areas.end());
  std::array<std::vector<SquareMillimetres>, 2> halves;
  std::array<SquareMillimetres, 2> sums;
  for (const SquareMillimetres area : areas) {
    const std::size_t smaller = sums[1] < sums[0] ? 1 : 0;
    halves[smaller].push_back(area);
    sums[smaller] += area;
  }
  const FloorPlan left = Plan(halves[0], bridge_pitch, 1 - axis), right = Plan(halves[1], bridge_pitch, 1 - axis);
  plan.sides[along] = left.sides[along] + right.sides[along] + 0.5 * kMm;
  plan.sides[across] = max(left.sides[across], right.sides[across]);
  plan.bridges = left.bridges + right.bridges + std::ceil(min(left.sides[across], right.sides[across]) / bridge_pitch);
  return plan;
}

Bill Price(const std::vector<Chip>& chips, const Package& package, const Product& product, const Settings& settings) {
  SquareMillimetres all;
  for (const Chip& chip : chips) all += chip.area;
  const double repeated = (settings.always_90_iterations ? 90 : product.iterations) / product.volume;
  Bill bill;
  for (const Chip& chip : chips) {
    const Node& node = chip.node;
    const SquareMillimetres area = Scale(chip) * chip.area;
    const double dynamic = node.dynamic_share;
    const Watts power = product.power * (chip.area / all) * node.power_scale[static_cast<std::size_t>(chip.circuit)] *
                        product.on * product.average * (dynamic * product.active + (1 - dynamic));
    bill.chips.push_back({Make(area, node) + Rim(area, node, settings), DesignOnce(area, node, product) * repeated,
                          product.intensity * (product.life * power)});
  }
  if (chips.size() > 1) bill.package = PricePackage(chips, package, product, settings);
  bill.package.design *= repeated;
  return bill;
}

}  // namespace slipstick::eco_chip
