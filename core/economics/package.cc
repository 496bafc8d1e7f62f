#include "core/economics/package.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/sum.h"

namespace slipstick {
namespace {

bool Adds(const AssemblyStep& step, Part part) {
  return std::find(step.adds.begin(), step.adds.end(), part) != step.adds.end();
}

SquareMillimetres Standing(const PackageParts& parts) { return parts.die_area + parts.memory_area; }

// A good carrier's price, or an untested one's and its yield.
struct CarrierPrice {
  Dollars cost;
  double yield = 1;
};
CarrierPrice PriceCarrier(const Carrier& carrier, const PackageGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "carrier");
  const Dollars wafer_price = carrier.wafer_price;
  const double carriers_per_wafer = static_cast<double>(std::max<Count>(geometry.carriers_per_wafer, 1));
  const SquareMillimetres carrier_area = geometry.carrier_area;
  const PerArea defect_density = carrier.defect_density;
  const double clustering = carrier.clustering, stitch_yield = carrier.stitch_yield;
  const double seams = static_cast<double>(geometry.seams);
  if (trace.on()) {
    trace.Input("wafer_price", wafer_price, "cost.device.package.carrier.wafer_price");
    trace.Input("defect_density", defect_density, "cost.device.package.carrier.defect_density");
    trace.Input("clustering", clustering, "cost.device.package.carrier.clustering");
    trace.Input("stitch_yield", stitch_yield, "cost.device.package.carrier.stitch_yield");
  }
  FIGURE(trace, carrier_yield,
         pow(1 + carrier_area * defect_density / clustering, -clustering) * pow(stitch_yield, seams),
         (Note{"Carrier yield", "negative binomial, times the stitch yield of every seam", "Stapper 1973"}),
         carrier_area, defect_density, clustering, stitch_yield, seams);
  FIGURE(trace, raw_carrier, wafer_price / carriers_per_wafer, (Note{"Cost per untested carrier"}), wafer_price,
         carriers_per_wafer);
  if (!carrier.tested) {
    trace.Alias("carrier_price", raw_carrier, "raw_carrier");
    return {raw_carrier, carrier_yield};
  }
  FIGURE(trace, good_carrier, raw_carrier / carrier_yield, (Note{"Cost per good carrier"}), raw_carrier, carrier_yield);
  trace.Alias("carrier_price", good_carrier, "good_carrier");
  return {good_carrier, 1};
}

// What one step joins, by number, area and price.
struct JoinedParts {
  double count = 0;
  SquareMillimetres area;
  Dollars cost;
};
JoinedParts JoinedBy(const AssemblyStep& step, const PackageParts& parts, Trace& trace) {
  const bool dies = Adds(step, Part::kDies) && parts.dies > 0,
             stacked = Adds(step, Part::kStackedDies) && parts.stacked_dies > 0,
             memory = Adds(step, Part::kMemory) && parts.stacks > 0;
  JoinedParts joined;
  joined.count = Sum<double>(trace, "parts_joined", Note{"Dies and stacks that this step joins"},
                             {{"die_count", static_cast<double>(parts.dies), dies},
                              {"stacked_count", static_cast<double>(parts.stacked_dies), stacked},
                              {"stacks", static_cast<double>(parts.stacks), memory}});
  joined.area = Sum<SquareMillimetres>(trace, "joined_area", Note{"Area of the dies and stacks that this step joins"},
                                       {{"die_area", parts.die_area, dies},
                                        {"stacked_area", parts.stacked_area, stacked},
                                        {"memory_area", parts.memory_area, memory}});
  joined.cost = Sum<Dollars>(trace, "joined_cost", Note{"Dies and stacks that this step joins"},
                             {{"die_cost", parts.die_cost, dies},
                              {"stacked_cost", parts.stacked_cost, stacked},
                              {"memory_cost", parts.memory_cost, memory}});
  return joined;
}

// A hybrid bond holds where no void and no bad pad lies between the faces; 1 where a step states neither.
double BondYield(const AssemblyStep& step, SquareMillimetres joined_area, Trace& trace) {
  constexpr Note kNote{"Yield of the bond", "of a hybrid bond: voids over the bonded area, and every pad; else 1",
                       "YAP (nanocad-lab/YAP): exp(-1.0278 D) of voids on 1 cm^2"};
  const PerArea void_density = step.void_density;
  const Millimetres pad_pitch = step.pad_pitch;
  const double groups = static_cast<double>(step.groups), pad_loss = step.pad_loss;
  FIGURE(trace, voids, 1.0278 * void_density * joined_area, (Note{"Killer voids of the bond"}), void_density,
         joined_area);
  if (pad_pitch.base() == 0) {
    FIGURE(trace, bond_yield, exp(-voids / groups), kNote, voids, groups);
    return bond_yield;
  }
  FIGURE(trace, pads, joined_area / (pad_pitch * pad_pitch), (Note{"Pads of the hybrid bond"}), joined_area, pad_pitch);
  FIGURE(trace, bond_yield, exp(-(voids + pad_loss * pads) / groups), kNote, voids, pad_loss, pads, groups);
  return bond_yield;
}

double StepYield(const AssemblyStep& step, double joined, SquareMillimetres joined_area, double carriers_yield,
                 Trace& trace) {
  constexpr Note kNote{"Yield of this step",
                       "every joined part must hold; sub-assemblies that are tested separately are lost separately"};
  const double yield = step.yield, yield_each = step.yield_each;
  const double groups = static_cast<double>(step.groups), bond_yield = BondYield(step, joined_area, trace);
  if (carriers_yield == 1) {
    FIGURE(trace, step_yield, yield * pow(yield_each, joined / groups) * bond_yield, kNote, yield, yield_each, joined,
           groups, bond_yield);
    return step_yield;
  }
  FIGURE(trace, step_yield, yield * pow(yield_each, joined / groups) * bond_yield * carriers_yield, kNote, yield,
         yield_each, joined, groups, bond_yield, carriers_yield);
  return step_yield;
}

void BindStep(const AssemblyStep& step, std::size_t index, Trace& trace) {
  const std::string input = "cost.device.package.steps." + std::to_string(index) + ".";
  trace.Input("yield", step.yield, input + "yield");
  trace.Input("yield_each", step.yield_each, input + "yield_each");
  trace.Input("groups", static_cast<double>(step.groups), input + "groups");
  trace.Input("void_density", step.void_density, input + "void_density");
  trace.Input("pad_pitch", step.pad_pitch, input + "pad_pitch");
  trace.Input("pad_loss", step.pad_loss, input + "pad_loss");
  trace.Input("step_cost", step.cost, input + "cost");
  trace.Input("cost_each", step.cost_each, input + "cost_each");
}

// Price of the carriers that a step joins, how many of them count as joined parts, and the yield of untested ones.
struct JoinedCarriers {
  Dollars cost;
  double count = 0, yield = 1;
  bool joins = false;  // any
};
JoinedCarriers CarriersOf(const Carrier& carrier, Count count, const CarrierPrice& price, Trace& trace) {
  const double carrier_count = static_cast<double>(count), carrier_yield = price.yield;
  const Dollars carrier_price = price.cost;
  FIGURE(trace, carriers, carrier_price * carrier_count, (Note{"Carriers of this step"}), carrier_price, carrier_count);
  FIGURE(trace, joined_carriers, min(carrier_count - 1, 1.0) * carrier_count,
         (Note{"Carriers that count as parts of this step", "where there are several"}), carrier_count);
  JoinedCarriers joined{carriers, joined_carriers, 1, true};
  if (carrier.tested) return joined;
  FIGURE(trace, carriers_yield, pow(carrier_yield, carrier_count), (Note{"Yield of the untested carriers"}),
         carrier_yield, carrier_count);
  joined.yield = carriers_yield;
  return joined;
}

Dollars PriceSubstrate(const Substrate& input, SquareMillimetres substrate_area, Trace& trace) {
  const DollarsPerArea substrate_price = input.price;
  const double layers_factor = input.layers_factor;
  trace.Input("substrate_price", substrate_price, "cost.device.package.substrate.price");
  trace.Input("layers_factor", layers_factor, "cost.device.package.substrate.layers_factor");
  FIGURE(trace, substrate_cost, substrate_price * layers_factor * substrate_area,
         (Note{"Substrate", "price of the simplest build-up × layer factor", "Feng and Ma, DAC 2022"}), substrate_price,
         layers_factor, substrate_area);
  return substrate_cost;
}

// What a step puts in beside the parts that it joins.
struct StepCost {
  std::optional<Dollars> carriers, substrate, quote, assembly;
};

// The package as it grows from step to step.
class GrowingPackage {
 public:
  explicit GrowingPackage(Trace& trace) : trace_(trace) {}

  // Puts in what a step joins and costs, and takes its loss.
  void Add(const JoinedParts& joined, const StepCost& cost, double step_yield) {
    const Dollars none, before = worth_;
    const Dollars added = Sum<Dollars>(trace_, "added", Note{"Parts and work of this step"},
                                       {{"joined_cost", joined.cost, joined.count > 0},
                                        {"carriers", cost.carriers.value_or(none), cost.carriers.has_value()},
                                        {"substrate_cost", cost.substrate.value_or(none), cost.substrate.has_value()},
                                        {"quoted_package", cost.quote.value_or(none), cost.quote.has_value()},
                                        {"assembly_step", cost.assembly.value_or(none), cost.assembly.has_value()}});
    const bool is_first = steps_++ == 0;
    if (!is_first) trace_.Alias("before", before, "worth");
    const Dollars put_in =
        Sum<Dollars>(trace_, "put_in", Note{"Value in the package after this step", "earlier parts and the added one"},
                     {{"before", before, !is_first}, {"added", added}});
    FIGURE(trace_, step_loss, put_in / step_yield - put_in,
           (Note{"Yield loss of this step", "a failure scraps everything in the package"}), put_in, step_yield);
    FIGURE(trace_, worth, put_in + step_loss,
           (Note{"Value in a package that passed this step", "its yield loss included"}), put_in, step_loss);
    worth_ = worth;
    losses_.Add("step_loss", step_loss);
    put_in_.Add("added", added);
    yield_.MultiplyBy("step_yield", step_yield);
    if (cost.carriers) carriers_.Add("carriers", *cost.carriers);
    if (cost.substrate) substrates_.Add("substrate_cost", *cost.substrate);
    if (cost.assembly) assembly_.Add("assembly_step", *cost.assembly);
    if (cost.quote) quoted_ += *cost.quote;
  }

  [[nodiscard]] PackageCost Total() const {
    return {carriers_.sum(), substrates_.sum(), assembly_.sum(), quoted_,
            losses_.sum(),   yield_.product(),  put_in_.sum()};
  }

 private:
  Trace& trace_;
  int steps_ = 0;
  Dollars worth_, quoted_;
  RunningSum<Dollars> losses_{trace_, "assembly_loss", "loss_before", Note{"Assembly yield loss so far"}};
  RunningSum<Dollars> put_in_{trace_, "parts_in", "parts_before", Note{"What went into the package so far"}};
  RunningSum<Dollars> carriers_{trace_, "carrier", "carrier_before", Note{"Carriers so far"}};
  RunningSum<Dollars> substrates_{trace_, "substrate", "substrate_before", Note{"Substrates so far"}};
  RunningSum<Dollars> assembly_{trace_, "assembly", "assembly_before", Note{"Cost of the steps so far"}};
  RunningProduct yield_{trace_, "assembled_yield", "yield_before", Note{"Yield of the steps so far"}};
};

}  // namespace

// Bridges along the edges that neighbors share: a stack stands at a die, a die at the next one; each shares a side of
// its own mean square.
Count BridgesOf(const PackageParts& parts, Millimetres edge_each) {
  const auto along = [&](SquareMillimetres area, Count count, Count joins) -> Count {
    if (count < 1 || joins < 1) return 0;
    return joins * static_cast<Count>(WholeAbove(sqrt(area / static_cast<double>(count)) / edge_each));
  };
  return std::max<Count>(
      1, along(parts.memory_area, parts.stacks, parts.stacks) + along(parts.die_area, parts.dies, parts.dies - 1));
}

PackageGeometry ComputeGeometry(const Package& package, const PackageParts& parts, const Wafer& wafer) {
  PackageGeometry geometry;
  const SquareMillimetres standing = Standing(parts);
  if (package.carrier) {
    const Carrier& carrier = *package.carrier;
    geometry.carrier_area = carrier.area.value_or(standing * carrier.area_scale);
    geometry.carriers = carrier.edge_each > Millimetres() ? BridgesOf(parts, carrier.edge_each) : carrier.count;
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
  const DollarsPerArea bump_price = package.bumps;
  trace.Input("bump_price", bump_price, "cost.device.package.bumps");
  const bool quoted = package.price.has_value();
  if (quoted) trace.Input("quoted_package", *package.price, "cost.device.package.price");
  CarrierPrice carrier;
  if (package.carrier) carrier = PriceCarrier(*package.carrier, geometry, trace);
  GrowingPackage growing(trace);
  for (std::size_t i = 0; i < package.steps.size(); ++i) {
    const AssemblyStep& step = package.steps[i];
    const Trace::Scope step_scope(trace, step.name);
    if (trace.on()) BindStep(step, i, trace);
    const JoinedParts parts_of_step = JoinedBy(step, parts, trace);
    JoinedCarriers carriers;
    if (package.carrier && Adds(step, Part::kCarrier))
      carriers = CarriersOf(*package.carrier, geometry.carriers, carrier, trace);
    StepCost cost;
    if (quoted) {
      if (i == 0) cost.quote = *package.price;
    } else {
      if (carriers.joins) cost.carriers = carriers.cost;
      if (Adds(step, Part::kSubstrate))
        cost.substrate = PriceSubstrate(package.substrate, geometry.substrate_area, trace);
      const Dollars step_cost = step.cost, cost_each = step.cost_each;
      const SquareMillimetres joined_area = parts_of_step.area;
      const double parts_joined = parts_of_step.count;
      FIGURE(trace, assembly_step, step_cost + cost_each * parts_joined + bump_price * joined_area,
             (Note{"Cost of this step", "equipment, bonding and bumps"}), step_cost, cost_each, parts_joined,
             bump_price, joined_area);
      cost.assembly = assembly_step;
    }
    const double joined =
        Sum<double>(trace, "joined", Note{"Parts that must hold in this step", "carriers too where there are several"},
                    {{"parts_joined", parts_of_step.count}, {"joined_carriers", carriers.count, carriers.joins}});
    growing.Add(parts_of_step, cost, StepYield(step, joined, parts_of_step.area, carriers.yield, trace));
  }
  return growing.Total();
}

}  // namespace slipstick
