#include "core/economics/die.h"

#include <algorithm>

namespace slipstick {
namespace {

YieldLaw LawOf(const DieInput& die) { return {die.yield_model, die.node.clustering, die.layers, die.manual_yield}; }

bool Harvested(const DieInput& die) { return die.spare_units > 0 && die.unit_area.base() > 0 && die.yield_model != YieldModel::kManual; }

double HarvestOf(const DieInput& die) {
  const SquareMillimetres unit = min(die.unit_area, die.area / static_cast<double>(die.units));
  const HarvestDie harvest{max(die.area - static_cast<double>(die.units) * unit, SquareMillimetres()) * die.critical_area,
                           unit * die.critical_area, die.units, die.spare_units};
  return HarvestYield(LawOf(die), harvest, die.node.defect_density);
}

double GoodShare(const DieInput& die, Trace& trace) {
  const SquareMillimetres area = die.area;
  const PerArea defect_density = die.node.defect_density;
  const double critical_area = die.critical_area;
  FIGURE(trace, faults, area * defect_density * critical_area, (Note{"Mean number of killer defects per die"}), area, defect_density,
         critical_area);
  const double whole = TracedYield(LawOf(die), faults, trace);
  if (!Harvested(die)) return whole;
  const double harvested = std::max(HarvestOf(die), whole);
  const double kept_with_bad_units = harvested - whole;
  if (trace.on()) {
    const double good_share = whole;
    FIGURE(trace, harvested_share, good_share + kept_with_bad_units,
           (Note{"Share of sellable dies (harvesting included)",
                 "up to spare_units blocks may be defective; averaged over the spread of defect density that the yield model implies",
                 "Koren and Koren, Proc. IEEE 86(9), 1998"}),
           good_share, kept_with_bad_units);
  }
  return harvested;
}

}  // namespace

Millimetres DieWidth(SquareMillimetres area, double aspect) { return sqrt(area * aspect); }

double DieYield(const DieInput& die) {
  const double whole = Yield(LawOf(die), die.area * die.node.defect_density * die.critical_area);
  return (Harvested(die) ? std::max(HarvestOf(die), whole) : whole) * die.process_yield;
}

DieCost PriceDie(const DieInput& die, Count per_wafer, const SortTest& sort, std::size_t index, Trace& trace) {
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
  const double placed = static_cast<double>(std::max<Count>(per_wafer, 1));
  LISTED_FIGURE(
      trace, dies_per_wafer, placed,
      (Note{"Gross dies per wafer", "best of 1,604 placements of the die grid on the usable circle", "", report + "dies_per_wafer"}),
      placed);
  const double harvested_share = GoodShare(die, trace);
  const double good_share = harvested_share;
  LISTED_FIGURE(trace, die_yield, good_share * process_yield, (Note{"Die yield", "", "", report + "yield"}), good_share, process_yield);
  FIGURE(trace, raw_die, wafer_price / dies_per_wafer, (Note{"Cost per untested die"}), wafer_price, dies_per_wafer);
  FIGURE(trace, sort_cost, sort_rate * sort_time, (Note{"Wafer-sort cost per die"}), sort_rate, sort_time);
  FIGURE(trace, passing, 1 - sort_coverage * (1 - die_yield),
         (Note{"Share of dies that pass wafer sort", "bad dies that the test misses pass as well"}), sort_coverage, die_yield);
  LISTED_FIGURE(trace, good_die, (raw_die + sort_cost) / passing,
                (Note{"Cost per good die", "known-good die: dies that fail are paid for by those that pass", "", report + "cost_usd"}),
                raw_die, sort_cost, passing);
  FIGURE(trace, quality, die_yield / passing, (Note{"Share of passed dies that are good", "the rest fail in package test"}), die_yield,
         passing);
  return {std::max<Count>(per_wafer, 1), die_yield, passing, quality, raw_die, good_die};
}

}  // namespace slipstick
