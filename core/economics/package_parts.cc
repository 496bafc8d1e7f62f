#include "core/economics/package_parts.h"

#include <algorithm>
#include <string>

#include "core/base/sum.h"
#include "core/economics/grid_choice.h"

namespace slipstick {

PackageParts PartsOf(const std::vector<DieInput>& dies, const MemoryInput& memory) {
  PackageParts parts;
  for (const DieInput& die : dies) {
    (die.stacked ? parts.stacked_dies : parts.dies) += die.count;
    (die.stacked ? parts.stacked_area : parts.die_area) += die.area * static_cast<double>(die.count);
  }
  if (memory.in_package) {
    parts.stacks = memory.stacks;
    parts.memory_area = memory.stack_area * static_cast<double>(memory.stacks);
  }
  return parts;
}

namespace {

void ExplainDies(const PackageInputs& inputs, Trace& trace) {
  RunningSum<double> dies(trace, "die_count", "dies_before", Note{"Dies side by side"});
  RunningSum<double> stacked(trace, "stacked_count", "stacked_before", Note{"Dies bonded on another die"});
  RunningSum<SquareMillimetres> area_of_dies(trace, "die_area", "die_area_before",
                                             Note{"Area of the dies side by side"});
  RunningSum<SquareMillimetres> area_of_stacked(trace, "stacked_area", "stacked_area_before",
                                                Note{"Area of the dies bonded on another die"});
  for (std::size_t i = 0; i < inputs.dies.size(); ++i) {
    const DieInput& die = inputs.dies[i];
    const Trace::Scope scope(trace, die.name);
    const double count = static_cast<double>(die.count);
    const SquareMillimetres area = die.area;
    const std::string input = "cost.device.dies." + std::to_string(i) + ".";
    trace.Input("count", count, input + "count");
    trace.Input("area", area, input + "area");
    FIGURE(trace, area_of_kind, area * count, (Note{"Area of the dies of this kind"}), area, count);
    (die.stacked ? stacked : dies).Add("count", count);
    (die.stacked ? area_of_stacked : area_of_dies).Add("area_of_kind", area_of_kind);
  }
}

void ExplainCarrier(const Carrier& carrier, SquareMillimetres standing, const PackageGeometry& geometry,
                    const Wafer& wafer, Trace& trace) {
  const SquareMillimetres carrier_area = geometry.carrier_area;
  if (carrier.area) {
    trace.Input("carrier_area", carrier_area, "cost.device.package.carrier.area");
  } else {
    const double area_scale = carrier.area_scale;
    trace.Input("area_scale", area_scale, "cost.device.package.carrier.area_scale");
    trace.Record("carrier_area", "standing * area_scale", carrier_area,
                 Note{"Area of the interposer, or of a bridge or RDL"}, "standing, area_scale", standing, area_scale);
  }
  const double carrier_count = static_cast<double>(geometry.carriers);
  const Millimetres edge_each = carrier.edge_each;
  trace.Input("edge_each", edge_each, "cost.device.package.carrier.edge_each");
  if (edge_each > Millimetres()) {
    trace.Procedure("carrier_count", carrier_count,
                    Note{"Bridges", "along the edges that a stack shares with its die and a die with the next one"},
                    "standing, edge_each", standing, edge_each);
  } else {
    trace.Input("stated_count", carrier_count, "cost.device.package.carrier.count");
    trace.Procedure("carrier_count", carrier_count, Note{"Carriers", "as many as stated: no edge per bridge is given"},
                    "stated_count, edge_each", carrier_count, edge_each);
  }
  FIGURE(trace, side, sqrt(carrier_area), (Note{"Side of the carrier, taken as a square"}), carrier_area);
  trace.Input("diameter", wafer.diameter, "cost.device.wafer.diameter");
  trace.Input("edge", wafer.edge, "cost.device.wafer.edge");
  trace.Input("scribe", wafer.scribe, "cost.device.wafer.scribe");
  trace.Alias("width", side, "side");
  trace.Alias("height", side, "side");
  const double carriers_per_wafer = static_cast<double>(geometry.carriers_per_wafer);
  ExplainGrid("carriers_per_wafer", carriers_per_wafer,
              Note{"Carriers per wafer", "whole ones, the best of four grids"}, side, side, wafer, trace);
  if (!carrier.stitched) return;
  const Millimetres reticle_width = wafer.reticle_width, reticle_height = wafer.reticle_height;
  trace.Input("reticle_width", reticle_width, "cost.device.wafer.reticle_width");
  trace.Input("reticle_height", reticle_height, "cost.device.wafer.reticle_height");
  FIGURE(trace, columns, ceil(max(1.0, side / reticle_width)), (Note{"Exposures side by side"}), side, reticle_width);
  FIGURE(trace, rows, ceil(max(1.0, side / reticle_height)), (Note{"Exposures above each other"}), side,
         reticle_height);
  FIGURE(trace, seams, (columns - 1) * rows + columns * (rows - 1), (Note{"Seams between exposures"}), columns, rows);
}

}  // namespace

void ExplainParts(const PackageInputs& inputs, const PackageParts& parts, const PackageGeometry& geometry,
                  Trace& trace) {
  if (!trace.on()) return;
  const Trace::Scope scope(trace, "package");
  ExplainDies(inputs, trace);
  const SquareMillimetres die_area = parts.die_area, memory_area = parts.memory_area;
  if (inputs.memory.in_package) {
    const double stacks = static_cast<double>(inputs.memory.stacks);
    const SquareMillimetres stack_area = inputs.memory.stack_area;
    trace.Input("stacks", stacks, "cost.device.memory.stacks");
    trace.Input("stack_area", stack_area, "cost.device.memory.stack_area");
    trace.Record("memory_area", "stack_area * stacks", memory_area, Note{"Area of the memory stacks"},
                 "stack_area, stacks", stack_area, stacks);
  }
  const SquareMillimetres standing =
      Sum<SquareMillimetres>(trace, "standing", Note{"Area of what stands side by side in the package"},
                             {{"die_area", die_area}, {"memory_area", memory_area, inputs.memory.in_package}});
  if (inputs.package.carrier) ExplainCarrier(*inputs.package.carrier, standing, geometry, inputs.wafer, trace);
  const SquareMillimetres substrate_area = geometry.substrate_area;
  if (inputs.package.substrate.area) {
    trace.Input("substrate_area", substrate_area, "cost.device.package.substrate.area");
  } else {
    const double substrate_scale = inputs.package.substrate.area_scale;
    trace.Input("substrate_scale", substrate_scale, "cost.device.package.substrate.area_scale");
    trace.Record("substrate_area", "standing * substrate_scale", substrate_area, Note{"Area of the package substrate"},
                 "standing, substrate_scale", standing, substrate_scale);
  }
  trace.Alias("design_area", geometry.design_area, inputs.package.carrier ? "carrier_area" : "substrate_area");
}

}  // namespace slipstick
