#include "core/exploration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/kernel.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr double kProbe = 1.02;      // by which an input moves to see what it does
constexpr double kStride = 1.25;     // by which it moves until the measurement lies between
constexpr int kStrides = 4;          // farther than that, 2.4 times, is no calibration
constexpr int kHalvings = 40;        // of the bracket then found
constexpr double kMoves = 1. / 100;  // elasticity below which an input explains nothing
constexpr std::size_t kOffered = 4;  // inputs listed for each figure
constexpr std::size_t kFitted = 2;   // figures calibrated at once
constexpr int kRounds = 12;          // one input after the other, until both figures stand

// What was fitted to measurements, and what of it one's own system may have otherwise.
constexpr std::string_view kTrainingInputs[] = {"cluster.device.efficiency.matrix",
                                                "cluster.device.efficiency.matrix_fp8",
                                                "cluster.device.efficiency.stream",
                                                "training.framework.step_overhead",
                                                "training.framework.jitter",
                                                "training.framework.exchange.network_share",
                                                "training.framework.exchange.tensor_exposed",
                                                "cluster.networks.0.bandwidth_fraction"};
constexpr std::string_view kMemoryInputs[] = {"training.framework.memory.constant", "training.framework.memory.hidden",
                                              "training.framework.memory.gated", "serving.engine.memory.reserve"};
constexpr std::string_view kServingInputs[] = {"cluster.device.efficiency.stream",
                                               "cluster.device.efficiency.matrix",
                                               "cluster.device.efficiency.matrix_fp8",
                                               "cluster.device.efficiency.launch",
                                               "serving.engine.step",
                                               "serving.engine.sequence",
                                               "serving.engine.request",
                                               "cluster.networks.0.bandwidth_fraction"};
constexpr std::string_view kCollectiveInputs[] = {
    "cluster.networks.0.bandwidth_fraction", "cluster.networks.0.reduction_fraction",
    "cluster.networks.0.base_latency",       "cluster.networks.1.bandwidth_fraction",
    "cluster.networks.1.reduction_fraction", "cluster.networks.1.base_latency"};

// The members of a report that add up to a figure.
struct FigureTerms {
  std::string_view figure, terms;
};
constexpr FigureTerms kFigureTerms[] = {{"training.step_time_s", "training.time_s"},
                                        {"training.memory_bytes.total", "training.memory_bytes"},
                                        {"serving.tpot_s", "serving.tpot_parts_s"},
                                        {"serving.ttft_s", "serving.ttft_parts_s"},
                                        {"serving.memory_bytes.total", "serving.memory_bytes"}};
constexpr std::string_view kNoTerms[] = {"total", "capacity", "host"};

struct OwnMeasurement {
  std::string figure;
  Json collective;
  double value = 0;
};

using InputValues = std::map<std::string, double, std::less<>>;

class Calibration {
 public:
  Calibration(Scenario scenario, std::vector<OwnMeasurement> measured) : measured_(std::move(measured)) {
    const auto needs = [&](std::string_view part) {
      return std::any_of(measured_.begin(), measured_.end(),
                         [&](const OwnMeasurement& one) { return one.figure.starts_with(part); });
    };
    scenario.cost.reset();
    if (!needs("training.")) scenario.training.reset();
    if (!needs("serving.")) scenario.serving.reset();
    resolved_ = Write(scenario);
  }

  // What explains each of the measurements; an issue where the scenario has no such figure.
  [[nodiscard]] Result<Json> Answered() const {
    Json list = Json::array();
    std::vector<std::vector<Candidate>> candidates;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const std::optional<double> computed = FigureOf(measured_[i], {});
      if (!computed || !(*computed > 0))
        return Issues{{"measured." + std::to_string(i), "The scenario has no such figure"}};
      candidates.push_back(CandidatesFor(measured_[i], *computed));
      list.push_back(Written(measured_[i], *computed, candidates.back()));
    }
    return Json{{"measured", std::move(list)}, {"calibrated", Calibrated(candidates)}};
  }

 private:
  struct Candidate {
    std::string path;
    double from = 0, elasticity = 0;
    std::optional<double> to;
  };

  // Null where a figure is none of the scenario's.
  [[nodiscard]] std::optional<double> FigureOf(const OwnMeasurement& one, const InputValues& values) const {
    Json request = resolved_;
    for (const auto& [path, value] : values) SetPath(request, path, value);
    if (!one.collective.is_null()) {
      const Result<Json> kernel = EvaluateKernel(Json{{"cluster", request["cluster"]}, {"collective", one.collective}});
      return kernel ? NumberAt(*kernel, "time_s") : std::nullopt;
    }
    const Result<Scenario> scenario = ParseScenario(request);
    return scenario ? NumberAt(*Evaluate(*scenario, ReportDetail::Figures()), one.figure) : std::nullopt;
  }

  [[nodiscard]] std::vector<Candidate> CandidatesFor(const OwnMeasurement& one, double computed) const {
    std::vector<Candidate> found;
    for (const std::string_view path : InputsFor(one)) {
      const double from = NumberAt(resolved_, path).value_or(0);
      if (!(from > 0)) continue;
      Candidate candidate{std::string(path), from, 0, {}};
      for (const double probe : {kProbe, 1 / kProbe}) {  // the other way where the first is past a limit
        const std::optional<double> moved = FigureOf(one, {{candidate.path, from * probe}});
        if (!moved || !(*moved > 0)) continue;
        candidate.elasticity = std::log(*moved / computed) / std::log(probe);
        break;
      }
      if (std::abs(candidate.elasticity) >= kMoves) found.push_back(std::move(candidate));
    }
    std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return std::abs(a.elasticity) > std::abs(b.elasticity);
    });
    if (found.size() > kOffered) found.resize(kOffered);
    for (Candidate& candidate : found) candidate.to = Solved(one, candidate, {});
    return found;
  }

  static std::vector<std::string_view> InputsFor(const OwnMeasurement& one) {
    if (!one.collective.is_null()) return {std::begin(kCollectiveInputs), std::end(kCollectiveInputs)};
    if (one.figure.find("memory") != std::string::npos) return {std::begin(kMemoryInputs), std::end(kMemoryInputs)};
    if (one.figure.starts_with("training.")) return {std::begin(kTrainingInputs), std::end(kTrainingInputs)};
    return {std::begin(kServingInputs), std::end(kServingInputs)};
  }

  // The input's value at which the figure is as measured, the others having `values`; null if none of a legal reach
  // does.
  [[nodiscard]] std::optional<double> Solved(const OwnMeasurement& one, const Candidate& candidate,
                                             InputValues values) const {
    const auto gap = [&](double value) -> std::optional<double> {
      values[candidate.path] = value;
      const std::optional<double> figure = FigureOf(one, values);
      return figure && *figure > 0 ? std::optional(std::log(*figure / one.value)) : std::nullopt;
    };
    const auto set = values.find(candidate.path);
    double near = set == values.end() ? candidate.from : set->second;
    const std::optional<double> start = gap(near);
    if (!start) return std::nullopt;
    const double stride = (*start > 0) == (candidate.elasticity > 0) ? 1 / kStride : kStride;
    for (int i = 0; i < kStrides; ++i) {
      double far = near * stride;
      const std::optional<double> there = gap(far);
      if (!there) return std::nullopt;
      if ((*there > 0) == (*start > 0)) {
        near = far;
        continue;
      }
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = std::sqrt(near * far);
        const std::optional<double> at = gap(middle);
        if (!at) return std::nullopt;
        ((*at > 0) == (*start > 0) ? near : far) = middle;
      }
      return far;
    }
    return std::nullopt;
  }

  [[nodiscard]] Json Written(const OwnMeasurement& one, double computed,
                             const std::vector<Candidate>& candidates) const {
    Json inputs = Json::array();
    for (const Candidate& candidate : candidates) {
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

  // What the figure is made of, the largest first, and what each would have to be multiplied with.
  [[nodiscard]] Json TermsOf(const OwnMeasurement& one, double computed) const {
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

  // One input for each of the figures that are calibrated, found in turn until all stand.
  [[nodiscard]] Json Calibrated(const std::vector<std::vector<Candidate>>& candidates) const {
    std::vector<std::pair<const OwnMeasurement*, const Candidate*>> pairs;
    for (std::size_t i = 0; i < measured_.size() && pairs.size() < kFitted; ++i) {
      const auto is_free = [&](const Candidate& one) {
        return one.to && std::none_of(pairs.begin(), pairs.end(),
                                      [&](const auto& pair) { return pair.second->path == one.path; });
      };
      const auto found = std::find_if(candidates[i].begin(), candidates[i].end(), is_free);
      if (found != candidates[i].end()) pairs.emplace_back(&measured_[i], &*found);
    }
    if (pairs.empty()) return nullptr;
    InputValues values;
    for (int round = 0; round < (pairs.size() > 1 ? kRounds : 1); ++round) {
      for (const auto& [one, candidate] : pairs) {
        if (const std::optional<double> to = Solved(*one, *candidate, values)) values[candidate->path] = *to;
      }
    }
    Json inputs = Json::array(), computed = Json::array();
    for (const auto& [one, candidate] : pairs)
      inputs.push_back(Json{{"path", candidate->path}, {"from", candidate->from}, {"to", values[candidate->path]}});
    for (const OwnMeasurement& one : measured_) computed.push_back(FigureOf(one, values).value_or(0));
    return Json{{"inputs", std::move(inputs)}, {"computed", std::move(computed)}};
  }

  std::vector<OwnMeasurement> measured_;
  Json resolved_;
};

Result<std::vector<OwnMeasurement>> MeasurementsOf(const Json& spec) {
  std::vector<OwnMeasurement> measured;
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
  Result<std::vector<OwnMeasurement>> measured = MeasurementsOf(*parsed);
  if (!measured) return WrongRequest(std::move(measured.issues));
  const Json* given = FindMember(*parsed, "request");
  const Result<Json> request = ReadRequest(given == nullptr ? "" : JsonText(*given), {});
  if (!request) return WrongRequest(request.issues);
  const Result<Scenario> scenario = ParseScenario(*request);
  if (!scenario) return WrongRequest(scenario.issues);
  const Result<Json> answered = Calibration(*scenario, std::move(*measured)).Answered();
  return answered ? Answer{JsonText(*answered), {}} : WrongRequest(answered.issues);
}

}  // namespace slipstick
