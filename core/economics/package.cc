#include "core/economics/package.h"

#include <algorithm>

namespace slipstick {
namespace {

bool Adds(const AssemblyStep& step, Part part) { return std::find(step.adds.begin(), step.adds.end(), part) != step.adds.end(); }

SquareMillimetres Standing(const PackageParts& parts) { return parts.die_area + parts.memory_area; }

// A good carrier's price, or an untested one's and its yield.
struct CarrierPrice {
  Dollars cost;
  double yield = 1;
};
CarrierPrice PriceCarrier(const Carrier& carrier, const PackageGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "carrier");
  const Dollars wafer_price = carrier.wafer_price;
  const double per_wafer = static_cast<double>(std::max<Count>(geometry.carriers_per_wafer, 1));
  const SquareMillimetres area = geometry.carrier_area;
  const PerArea defect_density = carrier.defect_density;
  const double clustering = carrier.clustering, stitch_yield = carrier.stitch_yield;
  const double seams = static_cast<double>(geometry.seams);
  if (trace.on()) {
    trace.Input("wafer_price", wafer_price, "cost.device.package.carrier.wafer_price");
    trace.Input("defect_density", defect_density, "cost.device.package.carrier.defect_density");
    trace.Input("clustering", clustering, "cost.device.package.carrier.clustering");
    trace.Input("stitch_yield", stitch_yield, "cost.device.package.carrier.stitch_yield");
  }
  FIGURE(trace, carrier_yield, pow(1 + area * defect_density / clustering, -clustering) * pow(stitch_yield, seams),
         (Note{"Carrier yield", "negative binomial, times the stitch yield of every seam", "Stapper 1973"}), area, defect_density,
         clustering, stitch_yield, seams);
  FIGURE(trace, raw_carrier, wafer_price / per_wafer, (Note{"Cost per untested carrier", "per_wafer: whole carriers per 300 mm wafer"}),
         wafer_price, per_wafer);
  if (!carrier.tested) return {raw_carrier, carrier_yield};
  FIGURE(trace, good_carrier, raw_carrier / carrier_yield, (Note{"Cost per good carrier"}), raw_carrier, carrier_yield);
  return {good_carrier, 1};
}

// What one step joins, by number, area and price.
struct JoinedParts {
  double count = 0;
  SquareMillimetres area;
  Dollars cost;
};
JoinedParts JoinedBy(const AssemblyStep& step, const PackageParts& parts) {
  JoinedParts joined;
  const auto add = [&joined](Count count, SquareMillimetres area, Dollars cost) {
    joined.count += static_cast<double>(count);
    joined.area += area;
    joined.cost += cost;
  };
  if (Adds(step, Part::kDies)) add(parts.dies, parts.die_area, parts.die_cost);
  if (Adds(step, Part::kStackedDies)) add(parts.stacked_dies, parts.stacked_area, parts.stacked_cost);
  if (Adds(step, Part::kMemory)) add(parts.stacks, parts.memory_area, parts.memory_cost);
  return joined;
}

double StepYield(const AssemblyStep& step, double joined, SquareMillimetres joined_area, double carrier_yield, Trace& trace) {
  const double yield = step.yield, yield_each = step.yield_each;
  const double groups = static_cast<double>(step.groups);
  if (step.void_density.base() == 0 && step.pad_pitch.base() == 0) {
    FIGURE(trace, step_yield, yield * pow(yield_each, joined / groups) * carrier_yield,
           (Note{"Yield of this step", "every joined part must hold; sub-assemblies that are tested separately are lost separately"}),
           yield, yield_each, joined, groups, carrier_yield);
    return step_yield;
  }
  const PerArea void_density = step.void_density;
  const double pad_loss = step.pad_loss;
  const double pads = step.pad_pitch.base() > 0 ? joined_area / (step.pad_pitch * step.pad_pitch) : 0.0;
  FIGURE(trace, step_yield,
         yield * pow(yield_each, joined / groups) * exp(-(1.0278 * void_density * joined_area + pad_loss * pads) / groups) * carrier_yield,
         (Note{"Yield of this step", "hybrid bond: overlay, voids over the bonded area, and every pad",
               "YAP (nanocad-lab/YAP): exp(-1.0278 D) of voids on 1 cm^2"}),
         yield, yield_each, joined, groups, void_density, joined_area, pad_loss, pads, carrier_yield);
  return step_yield;
}

}  // namespace

PackageGeometry ComputeGeometry(const Package& package, const PackageParts& parts, const Wafer& wafer) {
  PackageGeometry geometry;
  const SquareMillimetres standing = Standing(parts);
  if (package.carrier) {
    const Carrier& carrier = *package.carrier;
    geometry.carrier_area = carrier.area.value_or(standing * carrier.area_scale);
    const Millimetres side = sqrt(geometry.carrier_area);
    geometry.carriers_per_wafer = std::max<Count>(CountCentred(side, side, wafer), 1);
    geometry.seams = carrier.stitched ? StitchSeams(side, side, wafer) : 0;
  }
  geometry.substrate_area = package.substrate.area.value_or(standing * package.substrate.area_scale);
  geometry.design_area = package.carrier ? geometry.carrier_area : geometry.substrate_area;
  return geometry;
}

PackageCost Assemble(const Package& package, const PackageParts& parts, const PackageGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "package");
  PackageCost total;
  const DollarsPerArea substrate_price = package.substrate.price, bump_price = package.bumps;
  const double layers_factor = package.substrate.layers_factor;
  const SquareMillimetres substrate_area = geometry.substrate_area;
  if (trace.on()) {
    trace.Input("substrate_price", substrate_price, "cost.device.package.substrate.price");
    trace.Input("layers_factor", layers_factor, "cost.device.package.substrate.layers_factor");
    trace.Input("bump_price", bump_price, "cost.device.package.bumps");
  }
  const bool quoted = package.price.has_value();
  CarrierPrice carrier;
  if (package.carrier) carrier = PriceCarrier(*package.carrier, geometry, trace);
  Dollars before, assembly_before, loss_before;
  bool is_first = true;
  for (const AssemblyStep& step : package.steps) {
    const Trace::Scope step_scope(trace, step.name);
    const JoinedParts joined = JoinedBy(step, parts);
    Dollars carriers, substrate;
    double joined_count = joined.count, carrier_yield = 1;
    if (package.carrier && Adds(step, Part::kCarrier)) {
      const double carrier_count = static_cast<double>(package.carrier->count);
      if (!quoted) carriers = carrier.cost * carrier_count;
      carrier_yield = std::pow(carrier.yield, carrier_count);
      if (package.carrier->count > 1) joined_count += carrier_count;
    }
    if (Adds(step, Part::kSubstrate) && !quoted) {
      FIGURE(trace, substrate_cost, substrate_price * layers_factor * substrate_area,
             (Note{"Substrate", "price of the simplest build-up x layer factor", "Feng and Ma, DAC 2022"}), substrate_price, layers_factor,
             substrate_area);
      substrate = substrate_cost;
    }
    const Dollars quote = quoted && is_first ? *package.price : Dollars();
    is_first = false;
    const double step_yield = StepYield(step, joined_count, joined.area, carrier_yield, trace);
    const Dollars step_cost = step.cost, cost_each = step.cost_each;
    const SquareMillimetres joined_area = joined.area;
    const double parts_joined = joined.count;
    FIGURE(trace, assembly_step, step_cost + cost_each * parts_joined + bump_price * joined_area,
           (Note{"Cost of this step", "equipment, bonding and bumps"}), step_cost, cost_each, parts_joined, bump_price, joined_area);
    const Dollars assembly = quoted ? Dollars() : assembly_step;
    const Dollars added = joined.cost + carriers + substrate + quote + assembly;
    FIGURE(trace, put_in, before + added,
           (Note{"Value in the package after this step", "added: parts, carrier, substrate and cost of this step"}), before, added);
    FIGURE(trace, step_loss, put_in / step_yield - put_in, (Note{"Yield loss of this step", "a failure scraps everything in the package"}),
           put_in, step_yield);
    FIGURE(trace, assembly_loss, loss_before + step_loss, (Note{"Assembly yield loss so far"}), loss_before, step_loss);
    before = put_in + step_loss;
    loss_before = assembly_loss;
    assembly_before += assembly;
    total.carrier += carriers;
    total.substrate += substrate;
    total.quoted += quote;
    total.yield *= step_yield;
    total.put_in += added;
  }
  total.assembly = assembly_before;
  total.loss = loss_before;
  return total;
}

}  // namespace slipstick
