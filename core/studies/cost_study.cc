#include "core/studies/cost_study.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fix.h"
#include "core/base/random_bits.h"
#include "core/catalogue/presets.h"
#include "core/economics/uncertainty.h"
#include "core/evaluation/own_measurements.h"
#include "core/scenario/parse_scenario.h"
#include "core/studies/chiplet_study.h"
#include "core/studies/cost_question.h"

namespace slipstick {
namespace {

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
      return Yield(law, area * die.node.defect_density * die.critical_area).base();
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
