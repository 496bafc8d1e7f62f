#include "core/advice/judge.h"

#include <cctype>
#include <utility>

#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"
#include "core/sizing/fleet.h"

namespace slipstick {
namespace {

// Figures that are listed for every change, whatever the objective.
constexpr const char* kFigures[] = {"training.time_to_train_s",
                                    "training.step_time_s",
                                    "training.memory_bytes.total",
                                    "training.memory_bytes.capacity",
                                    "training.cost_usd",
                                    "serving.tpot_s",
                                    "serving.ttft_s",
                                    "serving.tokens_per_s_per_device",
                                    "serving.requests_in_flight",
                                    "serving.memory_bytes.total",
                                    "serving.memory_bytes.capacity",
                                    "serving.cost_usd_per_million_tokens",
                                    "cost.system_usd"};

Json FigureAt(const Json& report, const std::string& path) {
  const Json* value = MemberAt(report, path);
  return value != nullptr && value->is_number() ? *value : Json(nullptr);
}

double NumberOr0(const Json& report, const std::string& path) { return NumberAt(report, path).value_or(0); }

// Nothing if the scenario has no such value.
std::optional<double> LimitedValue(const std::string& path, const Scenario& scenario, const JudgedScenario& verdict) {
  if (path == kBudgetLimit) return NumberAt(verdict.report, "cost.system_usd");
  if (path == kPowerLimit && scenario.cost) return Fleet(scenario).FacilityPowerOf(scenario.cluster.devices).base();
  const std::optional<double> figure = NumberAt(verdict.report, path);
  return figure ? figure : NumberAt(verdict.scenario, path);
}

std::string WithoutNumbers(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text;
}

}  // namespace

Result<JudgedScenario> Judge(const Json& request, const AdviceQuestion& question) {
  Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return std::move(scenario.issues);
  if (scenario->serving) scenario->serving->simulate.reset();  // the answer has no percentiles, and simulation is slow
  JudgedScenario verdict;
  verdict.report = *Evaluate(*scenario, ReportDetail::Figures());
  verdict.scenario = Write(*scenario);
  verdict.is_feasible = MemberAt(verdict.report, question.part + ".feasible")->get<bool>();
  if (const Json* warnings = FindMember(verdict.report, "warnings")) {
    for (const Json& warning : *warnings) verdict.warnings.insert(WithoutNumbers(warning.get<std::string>()));
  }
  verdict.value = NumberOr0(verdict.report, question.figure);
  verdict.second = question.second.empty() ? 0 : NumberOr0(verdict.report, question.second);
  verdict.system_usd = NumberOr0(verdict.report, "cost.system_usd");
  for (const char* path : kFigures) verdict.figures[path] = FigureAt(verdict.report, path);
  if (!verdict.figures.contains(question.figure))
    verdict.figures[question.figure] = FigureAt(verdict.report, question.figure);
  for (const Condition& limit : question.limits) {
    const std::optional<double> value = LimitedValue(limit.path, *scenario, verdict);
    if (value && !(limit.at_most ? *value <= limit.bound.value : *value >= limit.bound.value))
      verdict.is_within = false;
  }
  return verdict;
}

double GainOf(const AdviceQuestion& question, double before, double after) {
  const double worse = question.larger_is_better ? after : before, better = question.larger_is_better ? before : after;
  return better > 0 ? worse / better : 0;
}

}  // namespace slipstick
