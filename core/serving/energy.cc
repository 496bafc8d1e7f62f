// Device power rises from idle to TDP with the utilization of the device.
#include "core/serving/energy.h"

#include "core/engine_step/named_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// Compute or memory utilization of a pass, whichever is higher.
double ActivityOf(const Deployment& deployment, const Device& device, const OperatorBreakdown& operators,
                  Seconds pass_time, std::string_view pass_time_is, Trace& trace) {
  const FlopsPerSecond peak_rate = PeakRate(device, deployment.formats.activations, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  trace.Alias("pass_time", pass_time, pass_time_is);
  const Flops executed_flops = operators.FlopsOf();
  const Bytes moved_bytes = operators.BytesOf();
  FIGURE(trace, activity,
         min(1.0, max(executed_flops / (peak_rate * pass_time), moved_bytes / (bandwidth * pass_time))),
         (Note{"Utilization of the device", "of its peak or of its memory bandwidth, the higher"}), executed_flops,
         peak_rate, pass_time, moved_bytes, bandwidth);
  return activity;
}

double DecodeActivity(const Deployment& deployment, const ServingPerformance& performance, Trace& trace) {
  const Trace::Scope scope(trace, "decode");
  const PassCost& step = performance.decode.step;
  return ActivityOf(deployment, deployment.requested->device, step.operators, step.time, "decode_step", trace);
}

double PrefillActivity(const Deployment& deployment, const Device& device, const ServingPerformance& performance,
                       Trace& trace) {
  const Trace::Scope scope(trace, "prefill");
  const PassCost& pass = performance.prefill.alone;
  return ActivityOf(deployment, device, pass.operators, pass.time, "pass_time", trace);
}

// Of one pool. `active_share`: utilization of its devices, in the mean over all the time.
PoolUse UseOf(const Device& device, double devices, double active_share, TokensPerSecond rate, Trace& trace) {
  const Watts tdp = device.tdp, idle = device.idle;
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("idle", idle, "cluster.device.idle");
  FIGURE(trace, power, idle + (tdp - idle) * active_share,
         (Note{"Power per device of the pool",
               "between idle and TDP, by compute or memory utilization; without the rest of the server"}),
         idle, tdp, active_share);
  FIGURE(trace, device_seconds, devices / rate, (Note{"Device time of the pool per output token"}), devices, rate);
  FIGURE(trace, device_energy, devices * power / rate, (Note{"Energy per output token, devices of the pool"}), devices,
         power, rate);
  return {device_seconds, device_energy};
}

PoolUse PrefillUse(const Deployment& deployment, const ServingPerformance& performance, Trace& trace) {
  const Trace::Scope scope(trace, "prefill_pool");
  const Disaggregated& pools = *deployment.load.disaggregated;
  if (pools.prefill_device) BindDevice("serving.disaggregated.prefill_device", trace);
  const Device& device = pools.prefill_device ? *pools.prefill_device : deployment.requested->device;
  const double activity = PrefillActivity(deployment, device, performance, trace);
  const auto output = static_cast<double>(deployment.load.output);
  const TokensPerSecond rate = performance.rate;
  const Hertz prefill_capacity = performance.prefill_capacity;
  FIGURE(trace, busy, min(1.0, rate / (output * (1 * kToken) * prefill_capacity)),
         (Note{"Share of the time in which the prefill pool computes", "the request rate over its capacity"}), rate,
         output, prefill_capacity);
  FIGURE(trace, active_share, activity * busy, (Note{"Utilization of the device over all the time"}), activity, busy);
  const auto devices = static_cast<double>(pools.prefill_devices);
  trace.Input("devices", devices, "serving.disaggregated.prefill_devices");
  return UseOf(device, devices, active_share, rate, trace);
}

// It steps as long as a sequence runs.
PoolUse DecodeUse(const Deployment& deployment, const ServingPerformance& performance, Trace& trace) {
  const Trace::Scope scope(trace, "decode_pool");
  const double active_share = DecodeActivity(deployment, performance, trace);
  trace.Alias("active_share", active_share, "activity");
  const auto devices = static_cast<double>(deployment.load.disaggregated->decode_devices);
  trace.Input("devices", devices, "serving.disaggregated.decode_devices");
  return UseOf(deployment.requested->device, devices, active_share, performance.rate, trace);
}

void SetEnergyOfPools(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report,
                      Trace& trace) {
  const PoolUse prefill = PrefillUse(deployment, performance, trace);
  trace.Alias("prefill_seconds", prefill.device_seconds, "device_seconds");
  trace.Alias("prefill_energy", prefill.energy, "device_energy");
  const PoolUse decode = DecodeUse(deployment, performance, trace);
  trace.Alias("decode_seconds", decode.device_seconds, "device_seconds");
  trace.Alias("decode_energy", decode.energy, "device_energy");
  const SecondsPerToken prefill_seconds = prefill.device_seconds, decode_seconds = decode.device_seconds;
  const JoulesPerToken prefill_energy = prefill.energy, decode_energy = decode.energy;
  FIGURE(trace, device_seconds, prefill_seconds + decode_seconds, (Note{"Device time per output token", "both pools"}),
         prefill_seconds, decode_seconds);
  FIGURE(trace, device_energy, prefill_energy + decode_energy,
         (Note{"Energy per output token, devices", "both pools", "", "serving.device_energy_j_per_token"}),
         prefill_energy, decode_energy);
  report.pools = {prefill, decode};
  report.device_seconds_per_token = device_seconds;
  report.energy_per_token = device_energy;
}

}  // namespace

void SetEnergy(const Deployment& deployment, const ServingPerformance& performance, double devices,
               ServingReport& report, Trace& trace) {
  if (deployment.load.disaggregated) return SetEnergyOfPools(deployment, performance, report, trace);
  const double output = static_cast<double>(deployment.load.output), running = performance.running;
  const double decode_activity = DecodeActivity(deployment, performance, trace);
  trace.Alias("decode_activity", decode_activity, "activity");
  const double prefill_activity = PrefillActivity(deployment, deployment.requested->device, performance, trace);
  trace.Alias("prefill_activity", prefill_activity, "activity");
  const Seconds mean_step = performance.decode.token, shared_prefill = performance.prefill.shared;
  FIGURE(trace, decoding, output * mean_step, (Note{"Decoding of a group's sequences", ""}), output, mean_step);
  FIGURE(trace, prefilling, running * shared_prefill, (Note{"Prefill of a group's sequences", ""}), running,
         shared_prefill);
  const Watts tdp = deployment.device.tdp, idle = deployment.device.idle;
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("idle", idle, "cluster.device.idle");
  FIGURE(trace, power,
         idle + (tdp - idle) * (decode_activity * decoding + prefill_activity * prefilling) / (decoding + prefilling),
         (Note{"Power per device",
               "between idle and TDP, by compute or memory utilization; without the rest of the server"}),
         idle, tdp, decode_activity, decoding, prefill_activity, prefilling);
  const TokensPerSecond rate = performance.rate;
  FIGURE(trace, device_seconds, devices / rate, (Note{"Device time per output token"}), devices, rate);
  FIGURE(trace, device_energy, devices * power / rate,
         (Note{"Energy per output token, devices", "", "", "serving.device_energy_j_per_token"}), devices, power, rate);
  report.device_seconds_per_token = device_seconds;
  report.energy_per_token = device_energy;
}

}  // namespace slipstick
