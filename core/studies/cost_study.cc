#include "core/studies/cost_study.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fix.h"
#include "core/base/json.h"
#include "core/base/random_bits.h"
#include "core/economics/cost.h"
#include "core/economics/device_bill.h"
#include "core/economics/partition.h"
#include "core/economics/uncertainty.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/operators/efficiency.h"
#include "core/scenario/parse_scenario.h"
#include "core/studies/cost_question.h"

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

// CostQuestion::kArea: cost over silicon area, one curve per number of chiplets.
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

// CostQuestion::kPartition: the device on one die and split, with the scenario's answers for each.
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

Result<StudyInput> Parse(std::string_view text) {
  Result<Json> json = ParseJson(text);
  if (!json) return json.issues;
  if (!json->is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(*json)}};
  Json request = std::move(*json);
  Json scenario_json = request.contains("scenario") ? request["scenario"] : Json::object();
  request.erase("scenario");
  StudyInput input;
  Issues issues;
  ExpandPresets<CostStudy>(request, "", issues);
  Read(request, "", issues, input.study);
  Result<Json> whole = ReadMeasuredRequest(JsonText(scenario_json), {});
  if (!whole) return whole.issues;
  (*whole)["partition"] = nullptr;  // studies cut the device themselves: they begin with its whole die
  if (whole->contains("cost") && (*whole)["cost"].is_null()) (*whole)["cost"] = Json::object();
  Result<Scenario> scenario = ParseScenario(*whole);
  if (!scenario) {
    for (Issue& issue : scenario.issues) issues.push_back(Below("scenario", std::move(issue)));
  } else {
    input.scenario = std::move(*scenario);
    const std::optional<CostInputs>& cost = input.scenario.cost;
    if (cost && static_cast<std::size_t>(input.study.die) >= cost->device.dies.size()) {
      issues.push_back({"die",
                        "Must be at most " + std::to_string(cost->device.dies.size() - 1),
                        {SetTo("die", static_cast<Count>(cost->device.dies.size()) - 1)}});
    }
  }
  if (input.study.high < input.study.low)
    issues.push_back({"high", "Must be at least low", {SetToBase("high", input.study.low.base())}});
  if (input.study.last - input.study.first > 20000)
    issues.push_back({"last", "Too many samples: at most 20,000 per step", {SetTo("last", input.study.first + 20000)}});
  if (input.study.last < input.study.first)
    issues.push_back({"last", "Must be at least first", {SetTo("last", input.study.first)}});
  if (!issues.empty()) return issues;
  return input;
}

// A reproducible random share from a seed and an index.
double ShareOf(Count seed, std::size_t i) {
  return UniformOf(MixedBits(static_cast<std::uint64_t>(seed) * kGoldenStep +
                             static_cast<std::uint64_t>(i) * 0xd1342543de82ef95ULL));
}

Json AnswerWafer(const StudyInput& input) {
  const DeviceBill& bill = input.scenario.cost->device;
  const DieInput& die = bill.dies[static_cast<std::size_t>(input.study.die)];
  const Millimetres width = DieWidth(die.area, die.aspect), height = die.area / width;
  const std::vector<DiePlace> places = PlaceDies(width, height, bill.wafer);
  const double yield = DieYield(die);
  DieInput no_spares = die;
  no_spares.spare_units = 0;
  const double whole = min(yield, DieYield(no_spares));
  Json dies = Json::array();
  Count good = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double share = ShareOf(input.study.seed, i);
    const int state = share < whole ? 1 : share < yield ? 2 : 0;
    good += state != 0;
    dies.push_back(Json::array({places[i].x.base(), places[i].y.base(), state}));
  }
  return Json{{"name", die.name},
              {"diameter_mm", bill.wafer.diameter.base()},
              {"edge_mm", bill.wafer.edge.base()},
              {"width_mm", width.base()},
              {"height_mm", height.base()},
              {"gross", places.size()},
              {"good", good},
              {"expected_good", yield * static_cast<double>(places.size())},
              {"yield", yield},
              {"whole_yield", whole},
              {"dies", std::move(dies)}};
}

Json AnswerYields(const StudyInput& input) {
  const DieInput& die = input.scenario.cost->device.dies[static_cast<std::size_t>(input.study.die)];
  const std::vector<SquareMillimetres> areas = Areas(input.study);
  Json xs = Json::array(), models = Json::array();
  for (const SquareMillimetres area : areas) xs.push_back(area.base());
  for (const auto& named : EnumNames<YieldModel>::names) {
    if (named.first == YieldModel::kManual) continue;
    const YieldLaw law{named.first, die.node.clustering, die.layers, die.manual_yield};
    const auto at = [&](SquareMillimetres area) {
      return (Yield(law, area * die.node.defect_density * die.critical_area) * die.process_yield).base();
    };
    Json yields = Json::array();
    for (const SquareMillimetres area : areas) yields.push_back(at(area));
    models.push_back(Json{{"model", named.second},
                          {"chosen", law.model == die.yield_model},
                          {"own_yield", at(die.area)},
                          {"yield", std::move(yields)}});
  }
  return Json{{"areas_mm2", std::move(xs)}, {"own_area_mm2", die.area.base()}, {"models", std::move(models)}};
}

Json Quantiles(std::vector<double> values) {
  if (values.empty()) return Json::object();
  std::sort(values.begin(), values.end());
  const auto at = [&values](int percent) {
    return values[static_cast<std::size_t>(std::lround(percent * static_cast<double>(values.size() - 1) / 100))];
  };
  double sum = 0;
  for (const double value : values) sum += value;
  return Json{{"p5", at(5)},   {"p25", at(25)}, {"p50", at(50)},
              {"p75", at(75)}, {"p95", at(95)}, {"mean", sum / static_cast<double>(values.size())}};
}

// A histogram with equal steps from the smallest to the largest value.
Json Counts(const std::vector<double>& values) {
  constexpr int kSteps = 36;
  if (values.empty()) return Json::object();
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  std::vector<Count> counts(kSteps, 0);
  const double step = (*largest - *smallest) / kSteps;
  for (const double value : values) {
    const int at = step > 0 ? std::min(kSteps - 1, static_cast<int>((value - *smallest) / step)) : 0;
    ++counts[static_cast<std::size_t>(at)];
  }
  return Json{{"from", *smallest}, {"to", *largest}, {"counts", counts}};
}

Json AnswerDraws(const StudyInput& input) {
  const CostStudy& study = input.study;
  const std::vector<DrawnCost> outcomes = DrawOutcomes(input.scenario.cluster, *input.scenario.cost,
                                                       static_cast<std::uint64_t>(study.seed), study.first, study.last);
  std::vector<double> device, hour;
  for (const DrawnCost& outcome : outcomes) {
    device.push_back(outcome.device.base());
    hour.push_back(In(outcome.device_second, kUsdPerHour));
  }
  Json answer{{"first", study.first},
              {"last", study.last},
              {"device_usd_counts", Counts(device)},
              {"device_hour_usd_counts", Counts(hour)},
              {"device_usd_quantiles", Quantiles(device)},
              {"device_hour_usd_quantiles", Quantiles(hour)}};
  if (study.draws) {
    answer["device_usd"] = device;
    answer["device_hour_usd"] = hour;
  }
  return answer;
}

Json AnswerTornado(const StudyInput& input) {
  Json swings = Json::array();
  for (const Swing& swing : Tornado(input.scenario.cluster, *input.scenario.cost)) {
    swings.push_back(Json{{"path", swing.guess.path},
                          {"low", swing.guess.band.low},
                          {"high", swing.guess.band.high},
                          {"device_usd", Json::array({swing.low.device.base(), swing.high.device.base()})},
                          {"device_hour_usd", Json::array({In(swing.low.device_second, kUsdPerHour),
                                                           In(swing.high.device_second, kUsdPerHour)})}});
  }
  return Json{{"swings", std::move(swings)}};
}

Json AnswerOf(const StudyInput& input) {
  switch (input.study.kind) {
    case CostQuestion::kArea:
      return AnswerArea(input);
    case CostQuestion::kWafer:
      return AnswerWafer(input);
    case CostQuestion::kYields:
      return AnswerYields(input);
    case CostQuestion::kPartition:
      return AnswerPartition(input);
    case CostQuestion::kMonteCarlo:
      return AnswerDraws(input);
    case CostQuestion::kTornado:
      return AnswerTornado(input);
  }
  return Json::object();
}

}  // namespace

Answer CostStudyAnswer(std::string_view request) {
  Result<StudyInput> input = Parse(request);
  if (!input) return WrongRequest(std::move(input.issues));
  Json answer{{"kind", NameOf(input->study.kind)}};
  answer.update(AnswerOf(*input));
  return {JsonText(answer), {}};
}

}  // namespace slipstick
