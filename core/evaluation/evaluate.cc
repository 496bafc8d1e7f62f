#include "core/evaluation/evaluate.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/evaluation/derivation.h"
#include "core/evaluation/hints.h"
#include "core/evaluation/intervals.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/report.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/scenario/changed_device.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/devices_in_use.h"
#include "core/scenario/estimated_costs.h"
#include "core/scenario/input_sources.h"
#include "core/serving/serving.h"
#include "core/simulation/simulate.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// Binds every number of the scenario to its name: a formula term with this name and value links to this input. A
// prefill pool binds its own device, which no other figure runs on.
void BindInputs(const Json& json, const std::string& path, std::string_view name, Trace& trace) {
  if (json.is_number()) {
    trace.Input(name, json.get<double>(), path);
    return;
  }
  const std::string below = path.empty() ? "" : path + ".";
  if (json.is_object()) {
    for (const auto& [key, member] : json.items()) {
      if (key != "prefill_device") BindInputs(member, below + key, key, trace);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) BindInputs(json[i], below + std::to_string(i), name, trace);
  }
}

// The sources of the inputs that explanations lead to.
Json SourcesOf(const Json& explanations, const Json& scenario) {
  const auto sources = InputSources(scenario);
  std::map<std::string_view, std::string_view> reached;
  for (const Json& figure : explanations) {
    for (const Json& term : figure["terms"]) {
      const auto found = sources.find(TextOf(term["origin"]));
      if (found != sources.end()) reached[found->first] = found->second;
    }
  }
  Json written = Json::object();
  for (const auto& [path, source] : reached) AddMember(written, path, source);
  return written;
}

std::vector<Chosen> ChosenFor(const Scenario& scenario, std::string_view part) {
  std::vector<Chosen> chosen;
  std::copy_if(scenario.chosen.begin(), scenario.chosen.end(), std::back_inserter(chosen),
               [part](const Chosen& one) { return one.path.starts_with(part); });
  return chosen;
}

// The scenario as a request with the same answer: where unwritten degrees would be chosen anew, it says that they are
// not.
Json WriteRequest(const Scenario& scenario) {
  Json request = Write(scenario);
  if (scenario.measured.empty()) request.erase("measured");
  if (scenario.version < 3) return request;
  for (const char* part : {"training", "serving"}) {
    if (request[part].is_object()) request[part]["mapping"]["auto"] = false;
  }
  return request;
}

// Model and cluster are inputs of every question; the others only of their own.
void BindScenario(const Json& scenario, Trace& trace) {
  for (const auto& [part, member] : scenario.items()) {
    const bool shared = part == "model" || part == "cluster";
    const Trace::Scope scope(trace, shared ? "" : part);
    BindInputs(member, part, part, trace);
  }
}

}  // namespace

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Trace trace = detail.explain.empty() ? Trace::Off() : Trace::On(), off = Trace::Off();
  // Figures of the other questions need not be recorded.
  const auto trace_of = [&](std::string_view part) -> Trace& {
    return detail.explain == "*" || detail.explain.substr(0, detail.explain.find('.')) == part ? trace : off;
  };
  Json report{{"version", 1}, {"training", nullptr}, {"serving", nullptr}, {"cost", nullptr}};
  if (detail.scenario) report["scenario"] = WriteRequest(scenario);
  const Json inputs = trace.on() && !detail.scenario ? WriteRequest(scenario) : Json();
  if (trace.on()) BindScenario(detail.scenario ? report["scenario"] : inputs, trace);
  AssumeRules(scenario.cluster.device, trace);
  Issues unfit;
  Json warnings = Json::array();
  std::vector<std::string> issued;  // training and serving may warn of the same
  const auto warn = [&warnings, &issued](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (std::find(issued.begin(), issued.end(), text) == issued.end())
        issued.push_back(text), warnings.push_back(text);
    }
  };
  warn(MeasurementWarnings(scenario));
  warn(scenario.warnings);
  std::optional<CostReport> cost;
  if (scenario.cost) {
    const std::optional<CostInputs> split = SplitCosts(scenario.partition, *scenario.cost, trace);
    const Cluster in_use = ClusterInUse(scenario);
    const Trace::Scope scope(trace, "cost");
    if (in_use.devices != scenario.cluster.devices) {
      trace.Input("cluster.devices", static_cast<double>(in_use.devices),
                  scenario.training  ? "training.devices"
                  : scenario.serving ? "serving.devices"
                                     : "diffusion.devices");
    }
    cost = EvaluateCost(in_use, split ? *split : *scenario.cost, trace, PrefillPoolOf(scenario, trace));
  }
  if (scenario.training && detail.Has("training")) {
    const TrainingDetail wanted{detail.operators, detail.timeline};
    TrainingReport training =
        EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, wanted, trace_of("training"));
    const TrainingCostEfficiency cost_efficiency =
        CostEfficiencyOf(cost, training, *scenario.training, trace_of("training"));
    CheckAlgorithms(training.collectives, unfit);
    std::optional<TrainingIntervals> intervals;
    std::vector<std::string> hints;
    if (detail.intervals) {
      intervals = IntervalsOf(scenario, training, trace_of("training"));
      if (!intervals->memory_warning.empty()) hints.push_back(intervals->memory_warning);
      const std::vector<std::string> faster =
          scenario.version >= 3 ? TrainingHints(scenario, training) : std::vector<std::string>();
      hints.insert(hints.end(), faster.begin(), faster.end());
    }
    warn(training.warnings);
    warn(hints);
    report["training"] =
        WriteTraining({std::move(training), cost_efficiency, std::move(intervals), ChosenFor(scenario, "training")});
  }
  if (scenario.serving && detail.Has("serving")) {
    ServingReport serving =
        EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, detail.operators, trace_of("serving"));
    const ServingCostEfficiency cost_efficiency = CostEfficiencyOf(cost, serving, trace_of("serving"));
    CheckAlgorithms(serving.collectives, unfit);
    SimulationAnswer simulation;
    if (scenario.serving->simulate) simulation = Simulate(scenario.model, scenario.cluster, *scenario.serving);
    std::optional<ServingIntervals> intervals;
    if (detail.intervals) intervals = IntervalsOf(scenario, serving, trace_of("serving"));
    warn(serving.warnings);
    if (!simulation.warning.empty()) warn({simulation.warning});
    report["serving"] = WriteServing(
        {std::move(serving), cost_efficiency, simulation.served, std::move(intervals), ChosenFor(scenario, "serving")});
  }
  if (scenario.post_training && detail.Has("post_training")) {
    const PostTrainingParts parts{scenario.model, scenario.cluster, *scenario.training, *scenario.serving};
    const PostTrainingReport post_training =
        EvaluatePostTraining(*scenario.post_training, parts, trace_of("post_training"));
    report["post_training"] = WritePostTraining(post_training);
    warn(post_training.warnings);
  }
  if (scenario.diffusion && detail.Has("diffusion")) {
    DiffusionReport diffusion = EvaluateDiffusion(*scenario.diffusion, scenario.cluster, trace_of("diffusion"));
    const DiffusionCostEfficiency cost_efficiency = CostEfficiencyOf(cost, diffusion, trace_of("diffusion"));
    std::optional<DiffusionIntervals> intervals;
    if (detail.intervals) intervals = IntervalsOf(scenario, diffusion, cost_efficiency.price, trace_of("diffusion"));
    report["diffusion"] = WriteDiffusion({std::move(diffusion), cost_efficiency, std::move(intervals)});
  }
  if (cost) {
    const DeviceCostEfficiency cost_efficiency = CostEfficiencyOf(*cost, scenario.cluster.device, trace);
    std::vector<std::string> estimates = detail.estimates ? EstimatedCosts(*scenario.cost) : std::vector<std::string>();
    std::optional<Interval<Dollars>> interval;
    if (detail.intervals) interval = DeviceCostInterval(scenario, *cost, trace);
    warn(cost->warnings);
    if (detail.Has("cost"))
      report["cost"] = WriteCost({std::move(*cost), std::move(estimates), cost_efficiency, std::move(interval)});
    if (const auto remark = ChangedDeviceWarning(scenario.cluster.device, scenario.cost->device))
      warnings.push_back(*remark);
  }
  if (!unfit.empty()) return unfit;
  if (const auto& design = scenario.cluster.device.design; design && detail.Has("technology")) {
    if (const Result<DerivedChip> chip = DeriveChip(*design, scenario.partition, "cluster.device.design")) {
      report["technology"] = WriteTechnology(*chip);
      warn(DesignWarnings(*chip));
    }
  }
  report["warnings"] = std::move(warnings);
  for (const NamedUnit& one : scenario.units_assumed) {
    report["units_assumed"].push_back(Json{{"path", one.path}, {"text", one.text}, {"value", one.value}});
  }
  if (!detail.explain.empty()) {
    Json explanations = WriteExplanations(trace.figures(), detail.explain);
    if (explanations.empty()) return Issues{{std::string(detail.explain), "The report has no such figure"}};
    report["sources"] = SourcesOf(explanations, detail.scenario ? report["scenario"] : inputs);
    report["explanations"] = std::move(explanations);
  }
  return report;
}

}  // namespace slipstick
