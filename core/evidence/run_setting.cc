#include "core/evidence/run_setting.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

// Diffusion has no engine: kernels are launched by the framework, or compiled.
constexpr std::string_view kEager = "eager", kCompiled = "compiled";

double Log2(double value) { return std::log2(std::max(value, 1.)); }

double BitsOf(Precision precision) { return std::log2(BytesPerElement(precision)); }

double ShareOf(Seconds part, Seconds whole) { return whole > Seconds() ? part / whole : Ratio(0); }

// Features that training and serving have in common.
RunSetting SettingOfModel(const Model& model, const Cluster& cluster, std::string_view software) {
  RunSetting setting{cluster.device.preset, cluster.device.architecture.name(), software, model.moe.has_value()};
  setting.parameters = Log2(CountParameters(model).active);
  return setting;
}

}  // namespace

RunSetting SettingOf(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingReport& report) {
  RunSetting setting = SettingOfModel(model, cluster, run.framework.preset);
  const double devices = static_cast<double>(run.devices.value_or(cluster.devices));
  const TimeByBound& time = report.time_by_bound;
  setting.bits = BitsOf(run.precision);
  setting.devices = Log2(devices);
  setting.load = Log2(static_cast<double>(run.global_batch) * static_cast<double>(run.sequence) / devices);
  setting.length = Log2(static_cast<double>(run.sequence));
  setting.network = ShareOf(time.network, time.Total());
  setting.latency = ShareOf(time.latency, time.Total());
  return setting;
}

RunSetting SettingOf(MeasuredKind kind, const Model& model, const Cluster& cluster, const ServingLoad& load,
                     const ServingReport& report) {
  RunSetting setting = SettingOfModel(model, cluster, load.engine.preset);
  const bool is_prefill = kind == MeasuredKind::kFirstToken;
  const TimeByBound& time = is_prefill ? report.time_by_bound.prefill : report.time_by_bound.decode;
  setting.bits = std::min(BitsOf(load.precision.weights), BitsOf(load.precision.activations));
  setting.devices = Log2(static_cast<double>(DevicesPerReplica(load.mapping)));
  setting.load = Log2(static_cast<double>(report.batch));
  setting.length = Log2(static_cast<double>(load.prompt));
  setting.network = ShareOf(time.network, time.Total());
  setting.latency = ShareOf(time.latency, time.Total());
  if (kind != MeasuredKind::kServingMemory && !load.engine.plain)
    setting.tuning = is_prefill ? load.tuning.first_token : load.tuning.token;
  const double working = is_prefill ? ShareOf(report.prefill, report.ttft) : ShareOf(report.decode_step, report.tpot);
  setting.waiting = std::max(0., 1 - working);
  if (is_prefill && report.requests_waiting > 0) {
    const Seconds queue = report.requests_waiting / report.requests_per_s *
                          kS;  // Little's law: waiting requests over the rate at which they leave
    setting.queued = std::min(1 - ShareOf(report.prefill, report.ttft), ShareOf(queue, report.ttft));
  }
  return setting;
}

RunSetting SettingOf(const Cluster& cluster, const DiffusionRun& run, const DiffusionReport& report) {
  RunSetting setting{cluster.device.preset, cluster.device.architecture.name(), run.compiled ? kCompiled : kEager};
  setting.parameters = Log2(report.parameters);
  setting.bits = BitsOf(run.precision);
  setting.devices = Log2(static_cast<double>(report.devices_per_replica));
  setting.load = Log2(static_cast<double>(run.batch));
  setting.length = Log2(report.tokens);
  setting.network = ShareOf(report.time.communication, report.latency);
  return setting;
}

}  // namespace slipstick
