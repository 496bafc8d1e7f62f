#include "core/study/evaluate.h"

#include <optional>

#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/operators/efficiency.h"
#include "core/serving/serving.h"
#include "core/study/report.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

std::optional<Dollars> PriceOfWallTime(const CostReport& cost, std::optional<Seconds> wall_device_seconds, Trace& trace) {
  if (!wall_device_seconds) return std::nullopt;
  const DollarsPerSecond device_second = cost.device_second;
  const Seconds device_seconds = *wall_device_seconds;
  FIGURE(trace, run_price, device_seconds * device_second,
         (Note{"What the training run costs with its interruptions", "", "", "training.run.cost_usd"}), device_seconds, device_second);
  return run_price;
}

TrainingWorth WorthOf(const std::optional<CostReport>& cost, const TrainingReport& training, const TrainingRun& run, Trace& trace) {
  TrainingWorth worth;
  const Tokens tokens = run.tokens;
  const Joules energy = training.energy;
  trace.Input("tokens", tokens, "training.tokens");
  if (energy > Joules()) {
    FIGURE(trace, trained_per_joule, tokens / energy, (Note{"Tokens trained for a joule", "devices only", "", "training.tokens_per_j"}),
           tokens, energy);
    worth.tokens_per_j = trained_per_joule;
  }
  if (!cost) return worth;
  worth.run = PriceOfWallTime(*cost, training.run.device_seconds, trace);
  const Seconds device_seconds = training.device_seconds;
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, run_price, device_seconds * device_second, (Note{"What the training run costs", "", "", "training.cost_usd"}),
         device_seconds, device_second);
  worth.steps = run_price;
  if (!(run_price > Dollars())) return worth;
  FIGURE(trace, trained_per_dollar, tokens / run_price, (Note{"Tokens trained for a dollar", "", "", "training.tokens_per_usd"}), tokens,
         run_price);
  worth.tokens_per_usd = trained_per_dollar;
  return worth;
}

// Nothing where no device answers.
ServingWorth WorthOf(const std::optional<CostReport>& cost, const ServingReport& serving, Trace& trace) {
  ServingWorth worth;
  const JoulesPerToken energy_per_token = serving.energy_per_token;
  const double token_per_token = 1;
  if (energy_per_token > JoulesPerToken()) {
    FIGURE(trace, served_per_joule, token_per_token / energy_per_token,
           (Note{"Output tokens for a joule", "devices only", "", "serving.tokens_per_j"}), token_per_token, energy_per_token);
    worth.tokens_per_j = served_per_joule;
  }
  const TokensPerSecond tokens_per_s_per_device = serving.tokens_per_s_per_device;
  if (!cost || !(tokens_per_s_per_device > TokensPerSecond())) return worth;
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, token_price, device_second / tokens_per_s_per_device,
         (Note{"What an output token costs", "busy devices also pay for their idle hours", "", "serving.cost_usd_per_million_tokens"}),
         device_second, tokens_per_s_per_device);
  worth.token = token_price;
  if (!(device_second > DollarsPerSecond())) return worth;
  FIGURE(trace, served_per_dollar, tokens_per_s_per_device / device_second,
         (Note{"Output tokens for a dollar", "", "", "serving.tokens_per_usd"}), tokens_per_s_per_device, device_second);
  worth.tokens_per_usd = served_per_dollar;
  return worth;
}

DeviceWorth WorthOf(const CostReport& cost, const Device& device, Trace& trace) {
  DeviceWorth worth;
  const FlopsPerSecond peak = PeakRate(device, Precision::kBf16);
  const Watts tdp = device.tdp;
  const DollarsPerSecond device_second = cost.device_second;
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("peak", peak, "cluster.device.peak.bf16");
  if (device_second > DollarsPerSecond()) {
    FIGURE(trace, flops_per_dollar, peak / device_second,
           (Note{"Peak arithmetic for a dollar", "dense 16-bit rate over what a second of the device costs", "", "cost.flops_per_usd"}),
           peak, device_second);
    worth.flops_per_usd = flops_per_dollar;
  }
  if (tdp > Watts()) {
    FIGURE(trace, flops_per_joule, peak / tdp,
           (Note{"Peak arithmetic for a joule", "dense 16-bit rate over the design power", "", "cost.flops_per_j"}), peak, tdp);
    worth.flops_per_j = flops_per_joule;
  }
  return worth;
}

// Every number of the scenario under its own name: a formula that uses the name with that value uses this input.
void BindInputs(const Json& json, const std::string& path, std::string_view name, Trace& trace) {
  if (json.is_number()) {
    trace.Input(name, json.get<double>(), path);
    return;
  }
  const std::string below = path.empty() ? "" : path + ".";
  if (json.is_object()) {
    for (const auto& [key, member] : json.items()) BindInputs(member, below + std::string(key.view()), key.view(), trace);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) BindInputs(json[i], below + std::to_string(i), name, trace);
  }
}

}  // namespace

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Trace trace = !kExplains || detail.explain.empty() ? Trace::Off() : Trace::On();
  Json report{{"version", 1}, {"training", nullptr}, {"serving", nullptr}, {"cost", nullptr}};
  if (detail.scenario) report["scenario"] = Write(scenario);
  if (trace.on()) BindInputs(detail.scenario ? report["scenario"] : Write(scenario), "", "", trace);
  Json warnings = Json::array();
  const auto warn = [&warnings](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) warnings.push_back(text);
  };
  std::optional<CostReport> cost;
  if (scenario.cost) cost = EvaluateCost(scenario.cluster, *scenario.cost, trace);
  if (scenario.training) {
    const TrainingDetail wanted{detail.operators, detail.timeline};
    const TrainingReport training = EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, wanted, trace);
    report["training"] = WriteTraining(training, WorthOf(cost, training, *scenario.training, trace));
    warn(training.warnings);
  }
  if (scenario.serving) {
    const ServingReport serving = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, detail.operators, trace);
    report["serving"] = WriteServing(serving, WorthOf(cost, serving, trace));
    warn(serving.warnings);
  }
  if (cost) {
    report["cost"] = WriteCost(*cost, WorthOf(*cost, scenario.cluster.device, trace));
    warn(cost->warnings);
  }
  report["warnings"] = std::move(warnings);
  if (kExplains && !detail.explain.empty()) {
    Json explanations = WriteExplanations(trace.figures(), detail.explain);
    if (explanations.empty()) return Issues{{std::string(detail.explain), "no figure of this report has that path"}};
    report["explanations"] = std::move(explanations);
  }
  return report;
}

}  // namespace slipstick
