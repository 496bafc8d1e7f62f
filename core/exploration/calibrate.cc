#include "core/exploration/calibrate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/explaining_inputs.h"
#include "core/evaluation/kernel.h"
#include "core/evaluation/own_measurements.h"
#include "core/scenario/parse_scenario.h"

namespace slipstick {
namespace {

constexpr std::size_t kOffered = 4;  // inputs listed for each figure
constexpr std::size_t kFitted = 2;   // figures calibrated at once

// The members of a report whose sum is a figure.
struct FigureTerms {
  std::string_view figure, terms;
};
constexpr FigureTerms kFigureTerms[] = {{"training.step_time_s", "training.time_s"},
                                        {"training.memory_bytes.total", "training.memory_bytes"},
                                        {"serving.tpot_s", "serving.tpot_parts_s"},
                                        {"serving.ttft_s", "serving.ttft_parts_s"},
                                        {"serving.memory_bytes.total", "serving.memory_bytes"}};
constexpr std::string_view kNoTerms[] = {"total", "capacity", "host"};

struct OwnFigure {
  std::string figure;
  Json collective;
  double value = 0;
};

class Calibration {
 public:
  Calibration(Scenario scenario, std::vector<OwnFigure> measured) : measured_(std::move(measured)) {
    const auto needs = [&](std::string_view part) {
      return std::any_of(measured_.begin(), measured_.end(),
                         [&](const OwnFigure& one) { return one.figure.starts_with(part); });
    };
    scenario.cost.reset();
    if (!needs("training.")) scenario.training.reset();
    if (!needs("serving.")) scenario.serving.reset();
    resolved_ = Write(scenario);
  }

  // Explains each measurement; an issue if the scenario has no such figure.
  [[nodiscard]] Result<Json> Answered() const {
    Json list = Json::array();
    std::vector<MeasuredFigure> figures;
    std::vector<std::vector<ExplainingInput>> candidates;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const OwnFigure& one = measured_[i];
      const std::optional<double> computed = FigureOf(one, {});
      if (!computed || !(*computed > 0))
        return Issues{{"measured." + std::to_string(i), "The scenario has no such figure"}};
      figures.push_back({[this, &one](const InputValues& values) { return FigureOf(one, values); }, one.value});
      candidates.push_back(InputsThatExplain(
          figures.back(), one.collective.is_null() ? InputsBehind(one.figure) : InputsBehindCollectives(), resolved_,
          {}));
      if (candidates.back().size() > kOffered) candidates.back().resize(kOffered);
      list.push_back(Written(one, *computed, candidates.back()));
    }
    return Json{{"measured", std::move(list)}, {"calibrated", Calibrated(figures, candidates)}};
  }

 private:
  // Nothing if the scenario does not have the figure.
  [[nodiscard]] std::optional<double> FigureOf(const OwnFigure& one, const InputValues& values) const {
    Json request = resolved_;
    for (const auto& [path, value] : values) SetPath(request, path, value);
    if (!one.collective.is_null()) {
      const Result<Json> kernel = EvaluateKernel(Json{{"cluster", request["cluster"]}, {"collective", one.collective}});
      return kernel ? NumberAt(*kernel, "time_s") : std::nullopt;
    }
    const Result<Scenario> scenario = ParseScenario(request);
    return scenario ? NumberAt(*Evaluate(*scenario, ReportDetail::Figures()), one.figure) : std::nullopt;
  }

  [[nodiscard]] Json Written(const OwnFigure& one, double computed,
                             const std::vector<ExplainingInput>& candidates) const {
    Json inputs = Json::array();
    for (const ExplainingInput& candidate : candidates) {
      inputs.push_back(Json{{"path", candidate.path},
                            {"from", candidate.from},
                            {"to", candidate.to ? Json(*candidate.to) : Json(nullptr)},
                            {"elasticity", candidate.elasticity}});
    }
    Json answer{{"measured", one.value},
                {"computed", computed},
                {"error", computed / one.value - 1},
                {"terms", TermsOf(one, computed)},
                {"inputs", std::move(inputs)}};
    if (one.collective.is_null()) {
      answer["figure"] = one.figure;
    } else {
      answer["collective"] = one.collective;
    }
    return answer;
  }

  // The terms of the figure, the largest first, each with the factor that would explain the measurement.
  [[nodiscard]] Json TermsOf(const OwnFigure& one, double computed) const {
    Json list = Json::array();
    const auto* of = std::find_if(std::begin(kFigureTerms), std::end(kFigureTerms),
                                  [&](const FigureTerms& row) { return row.figure == one.figure; });
    if (of == std::end(kFigureTerms)) return list;
    const Result<Scenario> scenario = ParseScenario(resolved_);
    const Result<Json> report = Evaluate(*scenario, ReportDetail::Figures());
    for (const auto& [name, value] : MemberAt(*report, of->terms)->items()) {
      const bool is_term = std::find(std::begin(kNoTerms), std::end(kNoTerms), name) == std::end(kNoTerms);
      const double term = is_term && value.is_number() ? value.get<double>() : 0;
      if (!(term > 0)) continue;
      const double factor = 1 + (one.value - computed) / term;
      list.push_back(Json{{"path", std::string(of->terms) + "." + name},
                          {"value", term},
                          {"share", term / computed},
                          {"factor", factor > 0 ? Json(factor) : Json(nullptr)}});
    }
    std::stable_sort(list.begin(), list.end(), [](const Json& a, const Json& b) { return a["value"] > b["value"]; });
    return list;
  }

  // One input per calibrated figure.
  [[nodiscard]] Json Calibrated(const std::vector<MeasuredFigure>& figures,
                                const std::vector<std::vector<ExplainingInput>>& candidates) const {
    std::vector<Explanation> explanations;
    for (std::size_t i = 0; i < figures.size() && explanations.size() < kFitted; ++i) {
      const auto is_free = [&](const ExplainingInput& one) {
        return one.to && std::none_of(explanations.begin(), explanations.end(),
                                      [&](const Explanation& taken) { return taken.input.path == one.path; });
      };
      const auto found = std::find_if(candidates[i].begin(), candidates[i].end(), is_free);
      if (found != candidates[i].end()) explanations.push_back({&figures[i], *found});
    }
    if (explanations.empty()) return nullptr;
    InputValues values = ExplainTogether(explanations, {});
    Json inputs = Json::array(), computed = Json::array();
    for (const auto& [figure, input] : explanations)
      inputs.push_back(Json{{"path", input.path}, {"from", input.from}, {"to", values[input.path]}});
    for (const OwnFigure& one : measured_) computed.push_back(FigureOf(one, values).value_or(0));
    return Json{{"inputs", std::move(inputs)}, {"computed", std::move(computed)}};
  }

  std::vector<OwnFigure> measured_;
  Json resolved_;
};

Result<std::vector<OwnFigure>> MeasurementsOf(const Json& spec) {
  std::vector<OwnFigure> measured;
  const Json* list = FindMember(spec, "measured");
  if (list == nullptr || !list->is_array() || list->empty()) return Issues{{"measured", "Give a list of measurements"}};
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& one = (*list)[i];
    const std::string path = "measured." + std::to_string(i);
    const Json *value = FindMember(one, "value"), *figure = FindMember(one, "figure"),
               *collective = FindMember(one, "collective");
    const bool is_one =
        (figure != nullptr && figure->is_string()) != (collective != nullptr && collective->is_object());
    if (!is_one) return Issues{{path, "Give a figure or a collective"}};
    if (value == nullptr || !value->is_number() || !(value->get<double>() > 0))
      return Issues{{path + ".value", "Enter a number above 0"}};
    measured.push_back(
        {figure != nullptr ? TextOf(*figure) : "", collective != nullptr ? *collective : Json(), value->get<double>()});
  }
  return measured;
}

}  // namespace

Answer CalibrateAnswer(std::string_view spec) {
  const Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(parsed.issues);
  Result<std::vector<OwnFigure>> measured = MeasurementsOf(*parsed);
  if (!measured) return WrongRequest(std::move(measured.issues));
  const Result<Json> request = ReadMeasuredRequest(RequestIn(*parsed), {});
  if (!request) return WrongRequest(request.issues);
  const Result<Scenario> scenario = ParseScenario(*request);
  if (!scenario) return WrongRequest(scenario.issues);
  const Result<Json> answered = Calibration(*scenario, std::move(*measured)).Answered();
  return answered ? Answer{JsonText(*answered), {}} : WrongRequest(answered.issues);
}

}  // namespace slipstick
