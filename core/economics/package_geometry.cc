// Areas of the parts in a package, of the carrier and of the substrate under them.
#include <algorithm>

#include "core/base/figure.h"
#include "core/economics/fitting.h"
#include "core/economics/package.h"

namespace slipstick {
namespace {

// Bridges along the edges that neighbors share: a stack stands at a die, a die at the next one; each shares a side of
// its own mean square.
Ratio CountBridges(const PackageParts& parts, Millimetres edge_each) {
  const auto along = [&](const PartsOfKind& kind, Ratio joins) {
    if (kind.count < 1 || joins < 1) return Ratio();
    return joins * WholeAbove(sqrt(kind.area / kind.count) / edge_each);
  };
  return Figure("Bridges", max(1, along(parts.memory, parts.memory.count) + along(parts.dies, parts.dies.count - 1)),
                "along the edges that a stack shares with its die and a die with the next one");
}

Ratio CountCarriers(const Carrier& carrier, const PackageParts& parts) {
  if (carrier.edge_each > Millimetres()) return CountBridges(parts, carrier.edge_each);
  return Procedure<Ratio>("Carriers", Count{carrier.count},
                          {Ratio(carrier.count).operand(), carrier.edge_each.operand()},
                          "as many as stated: no edge per bridge is given");
}

}  // namespace

PackageParts PartsOf(const std::vector<DieInput>& dies, const MemoryInput& memory) {
  PackageParts parts;
  for (const DieInput& die : dies) {
    const Ratio count = die.count;
    (die.stacked ? parts.stacked_dies : parts.dies) +=
        {count, Figure("Area of the dies of this kind", die.area * count), {}};
  }
  if (memory.in_package) {
    const Ratio stacks = memory.stacks;
    parts.memory = {stacks, Figure("Area of the memory stacks", memory.stack_area * stacks), {}};
  }
  return parts;
}

PackageGeometry ComputeGeometry(const Package& package, const PackageParts& parts, const Wafer& wafer) {
  PackageGeometry geometry;
  const SquareMillimetres standing = Figure("Area of what stands side by side in the package", parts.Standing());
  if (package.carrier) {
    const Carrier& carrier = *package.carrier;
    geometry.carrier_area =
        carrier.area.value_or(Figure("Area of the interposer, or of a bridge or RDL", standing * carrier.area_scale));
    geometry.carriers = CountCarriers(carrier, parts);
    const Millimetres side = Figure("Side of the carrier, taken as a square", sqrt(geometry.carrier_area));
    geometry.carriers_per_wafer = Fitting("Carriers per wafer", "whole ones, the best of four grids",
                                          std::max<Count>(CountCentred(side, side, wafer), 1), side, side, wafer);
    if (carrier.stitched) geometry.seams = StitchSeams(side, side, wafer);
  }
  geometry.substrate_area =
      package.substrate.area.value_or(Figure("Area of the package substrate", standing * package.substrate.area_scale));
  geometry.design_area = package.carrier ? geometry.carrier_area : geometry.substrate_area;
  return geometry;
}

}  // namespace slipstick
