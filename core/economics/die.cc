#include "core/economics/die.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/economics/grid_choice.h"

namespace slipstick {
namespace {

YieldLaw LawOf(const DieInput& die) { return {die.yield_model, die.node.clustering, die.layers, die.manual_yield}; }

bool Harvested(const DieInput& die) {
  return die.spare_units > 0 && die.unit_area.base() > 0 && die.yield_model != YieldModel::kManual;
}

double HarvestOf(const DieInput& die) {
  const SquareMillimetres unit = min(die.unit_area, die.area / static_cast<double>(die.units));
  const HarvestDie harvest{
      max(die.area - static_cast<double>(die.units) * unit, SquareMillimetres()) * die.critical_area,
      unit * die.critical_area, die.units, die.spare_units};
  return HarvestYield(LawOf(die), harvest, die.node.defect_density);
}

// The share of dies that can be sold, with the loss of both ways to sell them. No closed form gives it.
void ExplainHarvest(const DieInput& die, double good_share, double harvested, Trace& trace) {
  const double units = static_cast<double>(die.units), spare_units = static_cast<double>(die.spare_units);
  const SquareMillimetres area = die.area, unit_area = die.unit_area;
  const PerArea defect_density = die.node.defect_density;
  const double critical_area = die.critical_area;
  std::vector<std::pair<std::string, double>> lost{{"only dies without a defect: share of dies lost", 1 - good_share}};
  if (Harvested(die)) {
    lost.emplace_back("up to " + std::to_string(die.spare_units) + " of " + std::to_string(die.units) +
                          " units defective: share of dies lost",
                      1 - HarvestOf(die));
  }
  trace.Choice("harvested_share", harvested,
               Note{"Share of sellable dies (harvesting included)",
                    "up to spare_units blocks may be defective; averaged over the spread of defect density that the "
                    "yield model implies",
                    "Koren and Koren, Proc. IEEE 86(9), 1998"},
               lost, harvested > good_share ? 1 : 0,
               "good_share, units, unit_area, spare_units, area, defect_density, critical_area", good_share, units,
               unit_area, spare_units, area, defect_density, critical_area);
  trace.Alias("good_share", harvested, "harvested_share");
}

double GoodShare(const DieInput& die, Trace& trace) {
  const SquareMillimetres area = die.area;
  const PerArea defect_density = die.node.defect_density;
  const double critical_area = die.critical_area;
  FIGURE(trace, faults, area * defect_density * critical_area, (Note{"Mean number of killer defects per die"}), area,
         defect_density, critical_area);
  const double whole = TracedYield(LawOf(die), faults, trace);
  const double harvested = Harvested(die) ? std::max(HarvestOf(die), whole) : whole;
  if (trace.on() && (die.spare_units > 0 || die.unit_area.base() > 0)) ExplainHarvest(die, whole, harvested, trace);
  return harvested;
}

void ExplainDiesPerWafer(const DieInput& die, const Wafer& wafer, double dies_per_wafer, const std::string& report,
                         Trace& trace) {
  const SquareMillimetres area = die.area;
  const double aspect = die.aspect;
  FIGURE(trace, width, sqrt(area * aspect), (Note{"Width of the die"}), area, aspect);
  FIGURE(trace, height, area / width, (Note{"Height of the die"}), area, width);
  trace.Input("diameter", wafer.diameter, "cost.device.wafer.diameter");
  trace.Input("edge", wafer.edge, "cost.device.wafer.edge");
  trace.Input("scribe", wafer.scribe, "cost.device.wafer.scribe");
  ExplainGrid("dies_per_wafer", dies_per_wafer,
              Note{"Gross dies per wafer", "best of 1,604 placements of the die grid on the usable circle", "", report},
              width, height, wafer, trace);
}

}  // namespace

Millimetres DieWidth(SquareMillimetres area, double aspect) { return sqrt(area * aspect); }

double DieYield(const DieInput& die) {
  const double whole = Yield(LawOf(die), die.area * die.node.defect_density * die.critical_area);
  return (Harvested(die) ? std::max(HarvestOf(die), whole) : whole) * die.process_yield;
}

DieCost PriceDie(const DieInput& die, const Wafer& wafer, Count per_wafer, const SortTest& sort, std::size_t index,
                 Trace& trace) {
  const Trace::Scope scope(trace, die.name);
  const Dollars wafer_price = die.node.wafer_price;
  const double process_yield = die.process_yield, sort_coverage = sort.coverage;
  const Seconds sort_time = sort.time;
  const DollarsPerSecond sort_rate = sort.rate;
  std::string report;
  if (trace.on()) {
    const std::string input = "cost.device.dies." + std::to_string(index) + ".";
    report = "cost.dies." + std::to_string(index) + ".";
    trace.Input("area", die.area, input + "area");
    trace.Input("defect_density", die.node.defect_density, input + "node.defect_density");
    trace.Input("aspect", die.aspect, input + "aspect");
    trace.Input("units", static_cast<double>(die.units), input + "units");
    trace.Input("unit_area", die.unit_area, input + "unit_area");
    trace.Input("spare_units", static_cast<double>(die.spare_units), input + "spare_units");
    trace.Input("critical_area", die.critical_area, input + "critical_area");
    trace.Input("clustering", die.node.clustering, input + "node.clustering");
    trace.Input("layers", die.layers, input + "layers");
    trace.Input("manual", die.manual_yield, input + "manual_yield");
    trace.Input("wafer_price", wafer_price, input + "node.wafer_price");
    trace.Input("process_yield", process_yield, input + "process_yield");
    trace.Input("sort_rate", sort_rate, "cost.device.sort.rate");
    trace.Input("sort_time", sort_time, "cost.device.sort.time");
    trace.Input("sort_coverage", sort_coverage, "cost.device.sort.coverage");
  }
  const double dies_per_wafer = static_cast<double>(std::max<Count>(per_wafer, 1));
  if (trace.on()) ExplainDiesPerWafer(die, wafer, dies_per_wafer, report + "dies_per_wafer", trace);
  const double good_share = GoodShare(die, trace);
  LISTED_FIGURE(trace, die_yield, good_share * process_yield, (Note{"Die yield", "", "", report + "yield"}), good_share,
                process_yield);
  FIGURE(trace, raw_die, wafer_price / dies_per_wafer, (Note{"Cost per untested die"}), wafer_price, dies_per_wafer);
  FIGURE(trace, sort_cost, sort_rate * sort_time, (Note{"Wafer-sort cost per die"}), sort_rate, sort_time);
  FIGURE(trace, passing, 1 - sort_coverage * (1 - die_yield),
         (Note{"Share of dies that pass wafer sort", "bad dies that the test misses pass as well"}), sort_coverage,
         die_yield);
  LISTED_FIGURE(trace, good_die, (raw_die + sort_cost) / passing,
                (Note{"Cost per good die", "known-good die: dies that fail are paid for by those that pass", "",
                      report + "cost_usd"}),
                raw_die, sort_cost, passing);
  FIGURE(trace, quality, die_yield / passing,
         (Note{"Share of passed dies that are good", "the rest fail in package test"}), die_yield, passing);
  return {std::max<Count>(per_wafer, 1), die_yield, passing, quality, raw_die, good_die};
}

}  // namespace slipstick
