#include "core/economics/die.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/figure.h"

namespace slipstick {
namespace {

YieldLaw LawOf(const DieInput& die) { return {die.yield_model, die.node.clustering, die.layers, die.manual_yield}; }

bool Harvested(const DieInput& die) {
  return die.spare_units > 0 && die.unit_area.base() > 0 && die.yield_model != YieldModel::kManual;
}

Ratio HarvestOf(const DieInput& die) {
  const Ratio units = die.units;
  const SquareMillimetres unit = min(die.unit_area, die.area / units);
  const HarvestDie harvest{max(die.area - units * unit, SquareMillimetres()) * die.critical_area,
                           unit * die.critical_area, die.units, die.spare_units};
  return HarvestYield(LawOf(die), harvest, die.node.defect_density);
}

// Share of dies that can be sold: whole or harvested, whichever is more. There is no closed form.
Ratio SellableShare(const DieInput& die, Ratio whole) {
  const double harvested = Harvested(die) ? HarvestOf(die) : Ratio(0), share = max(harvested, whole.base());
  if (whole.node() == nullptr) return share;
  std::vector<std::pair<std::string, Ratio>> sold{{"only dies without a defect", whole}};
  if (Harvested(die)) {
    sold.emplace_back(
        "up to " + std::to_string(die.spare_units) + " of " + std::to_string(die.units) + " units defective",
        harvested);
  }
  const bool is_harvested = harvested > whole.base();
  const auto share_of = [&](auto member) {
    if (!is_harvested) return 0.0;
    return MeasuredShare([&](double by) {
      DieInput changed = die;
      member(changed) *= by;
      return double{HarvestOf(changed)};
    });
  };
  return Procedure<Ratio>(
      "Share of sellable dies (harvesting included)", share,
      {{whole, is_harvested ? 0.0 : 1.0},
       {Ratio(die.units), is_harvested ? kUnknownShare : 0},
       {die.unit_area, share_of([](DieInput& d) -> auto& { return d.unit_area; })},
       {Ratio(die.spare_units), is_harvested ? kUnknownShare : 0},
       {die.area, share_of([](DieInput& d) -> auto& { return d.area; })},
       {die.node.defect_density, share_of([](DieInput& d) -> auto& { return d.node.defect_density; })},
       {die.node.clustering, share_of([](DieInput& d) -> auto& { return d.node.clustering; })},
       {die.critical_area, share_of([](DieInput& d) -> auto& { return d.critical_area; })}},
      "up to spare_units blocks may be defective; averaged over the spread of defect density that "
      "the yield model implies",
      "Koren and Koren, Proc. IEEE 86(9), 1998", sold, is_harvested ? 1 : 0);
}

}  // namespace

Millimetres DieWidth(SquareMillimetres area, Ratio aspect) { return Figure("Width of the die", sqrt(area * aspect)); }

Ratio DieYield(const DieInput& die) {
  const Ratio faults =
      Figure("Mean number of killer defects per die", die.area * die.node.defect_density * die.critical_area);
  const Ratio whole = Yield(LawOf(die), faults);
  const bool has_units = die.unit_area.base() > 0;
  return Figure("Die yield", (has_units ? SellableShare(die, whole) : whole) * die.process_yield);
}

DieCost PriceDie(const DieInput& die, Ratio per_wafer, const SortTest& sort) {
  const Ratio yield = DieYield(die);
  const Dollars raw = Figure("Cost per untested die", die.node.wafer_price / per_wafer);
  const Dollars sort_cost = Figure("Wafer-sort cost per die", sort.rate * sort.time);
  const Ratio passing = Figure("Share of dies that pass wafer sort", 1 - sort.coverage * (1 - yield),
                               "bad dies that the test misses pass as well");
  const Dollars good = Figure("Cost per good die", (raw + sort_cost) / passing,
                              "known-good die: dies that fail are paid for by those that pass");
  const Ratio quality = Figure("Share of passed dies that are good", yield / passing, "the rest fail in package test");
  return {per_wafer, yield, passing, quality, raw, good};
}

}  // namespace slipstick
