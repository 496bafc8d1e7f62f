#include "core/economics/package.h"

#include <algorithm>

#include "core/base/figure.h"
#include "core/economics/wafer.h"

namespace slipstick {
namespace {

bool Adds(const AssemblyStep& step, Part part) {
  return std::find(step.adds.begin(), step.adds.end(), part) != step.adds.end();
}

// Price of a tested carrier, whose yield is 1, or price and yield of an untested one.
struct CarrierPrice {
  Dollars cost;
  Ratio yield = 1;
};
CarrierPrice PriceCarrier(const Carrier& carrier, const PackageGeometry& geometry) {
  const Ratio yield =
      Figure("Carrier yield",
             pow(1 + geometry.carrier_area * carrier.defect_density / carrier.clustering, -carrier.clustering) *
                 pow(carrier.stitch_yield, geometry.seams),
             "negative binomial, times the stitch yield of every seam", "Stapper 1973");
  const Dollars raw = Figure("Cost per untested carrier", carrier.wafer_price / geometry.carriers_per_wafer);
  if (!carrier.tested) return {raw, yield};
  return {Figure("Cost per good carrier", raw / yield), 1};
}

// The parts that an assembly step joins.
PartsOfKind JoinedBy(const AssemblyStep& step, const PackageParts& parts) {
  PartsOfKind joined;
  if (Adds(step, Part::kDies)) joined += parts.dies;
  if (Adds(step, Part::kStackedDies)) joined += parts.stacked_dies;
  if (Adds(step, Part::kMemory)) joined += parts.memory;
  return {Figure("Dies and stacks that this step joins", joined.count),
          Figure("Area of the dies and stacks that this step joins", joined.area),
          Figure("Cost of the dies and stacks that this step joins", joined.cost)};
}

// A hybrid bond fails at a void or a bad pad between the faces; 1 if a step states neither.
Ratio BondYield(const AssemblyStep& step, SquareMillimetres joined_area) {
  const Ratio voids = Figure("Killer voids of the bond", 1.0278 * step.void_density * joined_area);
  Ratio faults = voids;
  if (step.pad_pitch > Millimetres()) {
    faults += step.pad_loss * Figure("Pads of the hybrid bond", joined_area / (step.pad_pitch * step.pad_pitch));
  }
  return Figure("Yield of the bond", exp(-faults / Ratio(step.groups)),
                "of a hybrid bond: voids over the bonded area, and every pad; else 1",
                "YAP (nanocad-lab/YAP): exp(-1.0278 D) of voids on 1 cm^2");
}

// The carriers that a step joins: their price, how many of them count as joined parts, and the yield of untested ones.
struct JoinedCarriers {
  Dollars cost;
  Ratio count, yield = 1;
};
JoinedCarriers CarriersOf(const Carrier& carrier, Ratio count, const CarrierPrice& price) {
  return {Figure("Carriers of this step", price.cost * count),
          Figure("Carriers that count as parts of this step", min(count - 1, 1) * count, "where there are several"),
          carrier.tested ? Ratio(1) : Figure("Yield of the untested carriers", pow(price.yield, count))};
}

}  // namespace

PackageCost Assemble(const Package& package, const PackageParts& parts, const PackageGeometry& geometry) {
  CarrierPrice carrier;
  if (package.carrier) carrier = PriceCarrier(*package.carrier, geometry);
  PackageCost total;
  Dollars worth;  // value of the package so far, including the losses of its steps
  for (const AssemblyStep& step : package.steps) {
    const PartsOfKind joined = JoinedBy(step, parts);
    JoinedCarriers carriers;
    if (package.carrier && Adds(step, Part::kCarrier))
      carriers = CarriersOf(*package.carrier, geometry.carriers, carrier);
    Dollars added = joined.cost;
    if (package.price) {
      if (total.quoted == Dollars()) added += total.quoted = *package.price;
    } else {
      Dollars substrate;
      if (Adds(step, Part::kSubstrate)) {
        substrate =
            Figure("Substrate", package.substrate.price * package.substrate.layers_factor * geometry.substrate_area,
                   "price of the simplest build-up × layer factor", "Feng and Ma, DAC 2022");
      }
      substrate = substrate * RateOf(package);
      carriers.cost = carriers.cost * RateOf(package);
      const Dollars work =
          Figure("Cost of this step",
                 (step.cost + step.cost_each * joined.count + package.bumps * joined.area) * RateOf(package),
                 "equipment, bonding and bumps");
      total.carrier += carriers.cost;
      total.substrate += substrate;
      total.assembly += work;
      added = added + carriers.cost + substrate + work;
    }
    added = Figure("Parts and work of this step", added);
    const Ratio step_yield =
        Figure("Yield of this step",
               step.yield * pow(step.yield_each, (joined.count + carriers.count) / Ratio(step.groups)) *
                   BondYield(step, joined.area) * carriers.yield,
               "every joined part must hold; sub-assemblies that are tested separately are lost separately");
    const Dollars put_in =
        Figure("Value in the package after this step", worth + added, "earlier parts and the added one");
    const Dollars loss =
        Figure("Yield loss of this step", put_in / step_yield - put_in, "a failure scraps everything in the package");
    worth = Figure("Value in a package that passed this step", put_in + loss, "its yield loss included");
    total.loss += loss;
    total.put_in += added;
    total.yield *= step_yield;
  }
  return total;
}

namespace {

// Bridges: one joins a stack, whose interface is narrow, to its die; several lie along the edge that a die shares with
// the next one, a side of a square of the dies' mean area.
Ratio CountBridges(const PackageParts& parts, Millimetres edge_each) {
  const Ratio joints = parts.dies.count - 1;
  Ratio between_dies;
  if (joints >= 1) between_dies = joints * WholeAbove(sqrt(parts.dies.area / parts.dies.count) / edge_each);
  return Figure("Bridges", max(1, parts.memory.count + between_dies),
                "one per memory stack, and along the edges that a die shares with the next one");
}

Ratio CountCarriers(const Carrier& carrier, const PackageParts& parts) {
  if (carrier.edge_each > Millimetres()) return CountBridges(parts, carrier.edge_each);
  return Procedure<Ratio>("Carriers", Count{carrier.count}, {{Ratio(carrier.count), 1}, InSteps(carrier.edge_each)},
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
