#include "core/studies/chiplet_study.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/economics/carrier.h"
#include "core/economics/cost.h"
#include "core/economics/partition.h"
#include "core/evaluation/evaluate.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// The device with a total compute silicon of `area`, monolithic or split; its other dies stay.
DeviceBill AtArea(const DeviceBill& bill, SquareMillimetres area, const Partition& partition) {
  DeviceBill scaled = bill;
  PriceByParts(scaled);
  scaled.dies[0].unit_area =
      bill.dies[0].unit_area * (area / (bill.dies[0].area * static_cast<double>(bill.dies[0].count)));
  scaled.dies[0].area = area;
  scaled.dies[0].units = bill.dies[0].units * bill.dies[0].count;
  scaled.dies[0].spare_units = bill.dies[0].spare_units * bill.dies[0].count;
  scaled.dies[0].count = 1;
  if (partition.chiplets == 1 && partition.io_share == 0) return scaled;
  return Split(scaled, partition).bill;
}

Dollars AtVolume(const SplitCost& cost, Count volume) {
  return cost.recurring + cost.design / static_cast<double>(volume);
}

Json AreaOrNull(const std::optional<SquareMillimetres>& area) { return area ? Json(area->base()) : Json(nullptr); }

Json Crossovers(const DeviceBill& bill, const Partition& split, const CostStudy& study) {
  Partition whole = split;
  whole.chiplets = 1;
  whole.io_share = 0;
  const Count volume = bill.design.volume;
  const auto total = [&](const Partition& partition) {
    return [&bill, partition, volume](SquareMillimetres area) {
      return AtVolume(PriceSplit(AtArea(bill, area, partition)), volume);
    };
  };
  const auto recurring = [&](const Partition& partition) {
    return [&bill, partition](SquareMillimetres area) { return PriceSplit(AtArea(bill, area, partition)).recurring; };
  };
  const SquareMillimetres own = bill.dies[0].area * static_cast<double>(bill.dies[0].count);
  const SplitCost one = PriceSplit(AtArea(bill, own, whole)), several = PriceSplit(AtArea(bill, own, split));
  const std::optional<double> at = CrossoverVolume(one, several);
  return Json{
      {"chiplets", split.chiplets},
      {"area_mm2", AreaOrNull(CrossoverArea(total(whole), total(split), study.low, study.high))},
      {"recurring_area_mm2", AreaOrNull(CrossoverArea(recurring(whole), recurring(split), study.low, study.high))},
      {"own_area_mm2", own.base()},
      {"volume", at ? Json(*at) : Json(nullptr)},
      {"cheaper", at ? Json(several.recurring < one.recurring ? "above" : "below")
                  : AtVolume(several, 1) < AtVolume(one, 1) ? Json("always")
                                                            : Json("never")}};
}

Json BillJson(const DeviceBill& bill) {
  const DeviceCost cost = PriceDevice(bill, ComputeGeometry(bill));
  Json lines = Json::array(), warnings = Json::array();
  for (const BillLine& line : cost.lines) lines.push_back(Json{{"name", line.name}, {"cost_usd", line.cost.base()}});
  if (const auto warning = CarrierWarning(bill)) warnings.push_back(*warning);
  for (const Infeasibility& die : UnprintableDies(bill)) warnings.push_back(die.message);
  return Json{{"device_usd", cost.total.base()},
              {"device_usd_parts", std::move(lines)},
              {"package_yield", cost.yield.base()},
              {"warnings", std::move(warnings)}};
}

// The answers that depend on the partition.
Json PerformanceOf(const Scenario& scenario) {
  constexpr const char* kPaths[] = {"training.step_time_s", "training.time_to_train_s",
                                    "training.cost_usd",    "serving.ttft_s",
                                    "serving.tpot_s",       "serving.cost_usd_per_million_tokens",
                                    "cost.device_hour_usd"};
  const Result<Json> report = Evaluate(scenario, ReportDetail::Figures());
  Json figures = Json::object();
  for (const char* path : kPaths) {
    const std::optional<double> figure = report ? NumberAt(*report, path) : std::nullopt;
    if (figure) SetPath(figures, path, *figure);
  }
  figures["memory_bandwidth_bytes_per_s"] = scenario.cluster.device.memory.bandwidth.base();
  return figures;
}

// The scenario with the device of that bill, sold at the whole device's margin.
Scenario SoldAs(const Scenario& scenario, const DeviceBill& bill, double margin) {
  Scenario sold = scenario;
  sold.cost->device = bill;
  sold.cost->device.price.reset();
  sold.cost->device.margin = margin;
  return sold;
}

}  // namespace

Json AnswerArea(const StudyInput& input) {
  const CostStudy& study = input.study;
  const DeviceBill& bill = input.scenario.cost->device;
  const std::vector<SquareMillimetres> areas = Areas(study);
  Json xs = Json::array(), curves = Json::array(), crossovers = Json::array();
  for (const SquareMillimetres area : areas) xs.push_back(area.base());
  for (const Count n : study.chiplets) {
    Partition partition = study.partition;
    partition.chiplets = n;
    if (n == 1) partition.io_share = 0;
    Json costs = Json::array(), recurring = Json::array(), fits = Json::array();
    for (const SquareMillimetres area : areas) {
      const DeviceBill split = AtArea(bill, area, partition);
      const SplitCost cost = PriceSplit(split);
      costs.push_back(AtVolume(cost, bill.design.volume).base());
      recurring.push_back(cost.recurring.base());
      const Millimetres width = DieWidth(split.dies[0].area, split.dies[0].aspect);
      fits.push_back(FitsReticle(width, split.dies[0].area / width, split.wafer));
    }
    curves.push_back(Json{{"chiplets", n},
                          {"cost_usd", std::move(costs)},
                          {"recurring_usd", std::move(recurring)},
                          {"fits_reticle", std::move(fits)}});
    if (n > 1) crossovers.push_back(Crossovers(bill, partition, study));
  }
  return Json{{"areas_mm2", std::move(xs)},
              {"reticle_mm2", (bill.wafer.reticle_width * bill.wafer.reticle_height).base()},
              {"curves", std::move(curves)},
              {"crossovers", std::move(crossovers)}};
}

Json AnswerPartition(const StudyInput& input) {
  const DeviceBill& bill = input.scenario.cost->device;
  Partition whole = input.study.partition;
  whole.chiplets = 1;
  whole.io_share = 0;
  const SquareMillimetres own = bill.dies[0].area * static_cast<double>(bill.dies[0].count);
  const DeviceBill single = AtArea(bill, own, whole);
  const Partitioned split = Split(single, input.study.partition);
  const DeviceCost usual = PriceDevice(bill, ComputeGeometry(bill));
  const double margin = MarginOf(usual);
  Scenario apart = SoldAs(input.scenario, split.bill, margin);
  Device& device = apart.cluster.device;
  if (split.memory_limit) device.memory.bandwidth = min(device.memory.bandwidth, *split.memory_limit);
  device.die.link_power = split.link_power;
  CompleteEfficiency(device);
  return Json{{"whole", BillJson(single)},
              {"split", BillJson(split.bill)},
              {"die_area_mm2", split.bill.dies[0].area.base()},
              {"link_area_mm2", split.link_area.base()},
              {"link_edge_mm", split.link_edge.base()},
              {"link_power_w", split.link_power.base()},
              {"edge_fits", split.edge_fits},
              {"memory_limit_bytes_per_s", split.memory_limit ? Json(split.memory_limit->base()) : Json(nullptr)},
              {"performance",
               {{"whole", PerformanceOf(SoldAs(input.scenario, single, margin))}, {"split", PerformanceOf(apart)}}},
              {"crossover", Crossovers(bill, input.study.partition, input.study)}};
}

}  // namespace slipstick
