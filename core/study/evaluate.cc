#include "core/study/evaluate.h"

#include <optional>

#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/study/report.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// Nothing where no device answers.
std::optional<DollarsPerToken> PriceOfTokens(const std::optional<CostReport>& cost, TokensPerSecond tokens_per_s_per_device, Trace& trace) {
  if (!cost || !(tokens_per_s_per_device > TokensPerSecond())) return std::nullopt;
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, token_price, device_second / tokens_per_s_per_device,
         (Note{"What an output token costs", "busy devices also pay for their idle hours", "", "serving.cost_usd_per_million_tokens"}),
         device_second, tokens_per_s_per_device);
  return token_price;
}

std::optional<Dollars> PriceOfRun(const std::optional<CostReport>& cost, Seconds device_seconds, Trace& trace) {
  if (!cost) return std::nullopt;
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, run_price, device_seconds * device_second, (Note{"What the training run costs", "", "", "training.cost_usd"}),
         device_seconds, device_second);
  return run_price;
}

std::optional<Dollars> PriceOfWallTime(const std::optional<CostReport>& cost, std::optional<Seconds> wall_device_seconds, Trace& trace) {
  if (!cost || !wall_device_seconds) return std::nullopt;
  const DollarsPerSecond device_second = cost->device_second;
  const Seconds device_seconds = *wall_device_seconds;
  FIGURE(trace, run_price, device_seconds * device_second,
         (Note{"What the training run costs with its interruptions", "", "", "training.run.cost_usd"}), device_seconds, device_second);
  return run_price;
}

}  // namespace

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Trace trace = detail.explain.empty() ? Trace::Off() : Trace::On();
  Json report{{"version", 1}, {"training", nullptr}, {"serving", nullptr}, {"cost", nullptr}};
  if (detail.scenario) report["scenario"] = Write(scenario);
  Json warnings = Json::array();
  const auto warn = [&warnings](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) warnings.push_back(text);
  };
  std::optional<CostReport> cost;
  if (scenario.cost) cost = EvaluateCost(scenario.cluster, *scenario.cost, trace);
  if (scenario.training) {
    const TrainingDetail wanted{detail.operators, detail.timeline};
    const TrainingReport training = EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, wanted, trace);
    report["training"] = WriteTraining(training, PriceOfRun(cost, training.device_seconds, trace),
                                       PriceOfWallTime(cost, training.run.device_seconds, trace));
    warn(training.warnings);
  }
  if (scenario.serving) {
    const ServingReport serving = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, detail.operators, trace);
    report["serving"] = WriteServing(serving, PriceOfTokens(cost, serving.tokens_per_s_per_device, trace));
    warn(serving.warnings);
  }
  if (cost) {
    report["cost"] = WriteCost(*cost);
    warn(cost->warnings);
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
