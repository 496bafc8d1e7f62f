#include "core/study/evaluate.h"

#include <optional>
#include <string>

#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/study/report.h"
#include "core/training/training.h"

namespace slipstick {

// The page of the domain: what the chips cost, how the model trains on them, how it is served by them.
Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Trace trace = detail.explain.empty() ? Trace::Off() : Trace::On();
  Json report{{"version", 1}, {"training", nullptr}, {"serving", nullptr}, {"cost", nullptr}};
  if (detail.scenario) report["scenario"] = Write(scenario);
  Json warnings = Json::array();
  const auto warn = [&warnings](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) warnings.push_back(text);
  };

  std::optional<DollarsPerSecond> price;
  if (scenario.cost) {
    const CostReport cost = EvaluateCost(scenario.cluster, *scenario.cost, trace);
    price = cost.device_second;
    report["cost"] = WriteCost(cost);
    warn(cost.warnings);
  }
  if (scenario.training) {
    const TrainingReport training =
        EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {detail.operators, detail.timeline}, trace);
    std::optional<Dollars> run_cost;
    if (price) {
      const Seconds device_seconds = training.device_seconds;
      const DollarsPerSecond device_second = *price;
      FIGURE(trace, cost_usd, device_seconds * device_second,
             (Note{"Cost of the run", "Every device is paid for from the first step to the last.", "", "training.cost_usd"}), device_seconds,
             device_second);
      run_cost = cost_usd;
    }
    report["training"] = WriteTraining(training, run_cost);
    warn(training.warnings);
  }
  if (scenario.serving) {
    const ServingReport serving = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, detail.operators, trace);
    std::optional<DollarsPerToken> token_cost;
    if (price) {
      const SecondsPerToken device_seconds_per_token = serving.device_seconds_per_token;
      const DollarsPerSecond device_second = *price;
      FIGURE(trace, cost_per_token, device_seconds_per_token * device_second,
             (Note{"Cost of an output token", "All devices of the replicas, paid for while they answer; shown per million.", "",
                   "serving.cost_usd_per_million_tokens"}),
             device_seconds_per_token, device_second);
      token_cost = cost_per_token;
    }
    report["serving"] = WriteServing(serving, token_cost);
    warn(serving.warnings);
  }
  report["warnings"] = std::move(warnings);
  if (!detail.explain.empty()) {
    Json explanations = WriteExplanations(trace.figures(), detail.explain);
    if (explanations.empty()) return Issues{{std::string(detail.explain), "no figure of this report has that path"}};
    report["explanations"] = std::move(explanations);
  }
  return report;
}

}  // namespace slipstick
