#include "core/training/whole_run.h"

#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/substitution.h"
#include "core/training/attention_core.h"
#include "core/training/flops.h"
#include "core/training/interruptions.h"

namespace slipstick {
namespace {

std::string GibText(Bytes bytes) { return NumberText(In(bytes, kGiB)) + " GiB"; }

Bytes FullestStage(const TrainingRun& run, const TrainingContext& base) {
  const TrainingContext context = MakeContext(base.model, base.cluster, run);
  const LayerWorks works = WorksOf(context);
  const MemoryTerms terms{context, works};
  PlacementLoads loads;
  const std::vector<Stage> plan = PlanStages(context, works,
                                             CountKinds(context, PlaceLayers(base.model.layers, run.mapping.pp, run.mapping.virtual_stages,
                                                                             run.mapping.schedule, loads, run.framework.places_by_cost)));
  Trace off = Trace::Off();
  RecomputeChoice choice = ChoiceFor(run);
  if (run.recompute == Recompute::kAuto) choice.full_share = 1;
  Bytes fullest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    fullest = max(fullest, StageMemory(terms, plan[i], static_cast<double>(i), choice, off).Total());
  }
  return fullest;
}

}  // namespace

namespace {

std::string NearestFitOf(const TrainingContext& context, const TrainingRun& run, Bytes capacity) {
  const auto fits = [&](const TrainingRun& changed) { return FullestStage(changed, context) <= capacity; };
  if (run.recompute == Recompute::kNone || run.recompute == Recompute::kSelective) {
    TrainingRun changed = run;
    changed.recompute = Recompute::kFull;
    if (fits(changed)) return "recompute full would fit";
  }
  for (Count smaller = run.mapping.micro_batch / 2; smaller >= 1; smaller /= 2) {
    TrainingRun changed = run;
    changed.mapping.micro_batch = smaller;
    if (run.global_batch % (smaller * changed.mapping.dp.value_or(1)) == 0 && fits(changed)) {
      return "a micro-batch of " + std::to_string(smaller) + " would fit";
    }
  }
  for (Count zero = run.mapping.zero + 1; zero <= 3 && context.shape.DataRanks() > 1; ++zero) {
    TrainingRun changed = run;
    changed.mapping.zero = zero;
    if (fits(changed)) return "zero " + std::to_string(zero) + " would fit";
  }
  // More model parallelism on the same devices, taken from data parallelism; then on more devices.
  const Count data = run.mapping.dp.value_or(1);
  for (Count factor = 2; factor <= 64; factor *= 2) {
    for (const bool pipeline : {false, true}) {
      TrainingRun changed = run;
      Count& degree = pipeline ? changed.mapping.pp : changed.mapping.tp;
      degree *= factor;
      const bool legal = pipeline ? degree * changed.mapping.virtual_stages <= context.model.layers
                                  : context.model.heads % degree == 0 && static_cast<double>(degree) <= context.node_devices;
      if (!legal || data % factor != 0) continue;
      changed.mapping.dp = data / factor;
      if (fits(changed)) return std::string(pipeline ? "pp " : "tp ") + std::to_string(degree) + " in place of data parallelism would fit";
    }
  }
  return "";
}

}  // namespace

std::string NearestFit(const TrainingContext& context, Bytes capacity) {
  const std::string single = NearestFitOf(context, context.run, capacity);
  if (!single.empty() || context.run.recompute == Recompute::kFull) return single;
  TrainingRun repeated = context.run;
  repeated.recompute = Recompute::kFull;
  const std::string with_it = NearestFitOf(context, repeated, capacity);
  return with_it.empty() ? "" : "recompute full and " + with_it;
}

namespace {

// Inputs that the figures use and a rule set, not a measurement.
std::vector<std::string> AssumedInputs(const TrainingContext& context) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::gemm_efficiency, &A::sustained_clock_derating, &A::rated_power, &A::bandwidth_efficiency, &A::usable};
  if (IsEightBitFloat(NativePrecision(context.device(), context.run.precision))) used.push_back(&A::gemm_efficiency_fp8);
  if (context.run.flash_attention && !HasOwnAttention(context)) {
    used.insert(used.end(), {&A::attention_forward, &A::attention_backward});
  }
  return AssumedPaths(context.device(), "cluster.device", used);
}

}  // namespace

void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice, Seconds first_step,
                  TrainingReport& report, Trace& trace) {
  const TrainingRun& run = context.run;
  const Device& device = context.device();
  const StepFlops flops = known != nullptr ? *known : CountFlops(context.model, run, recompute, trace);
  report.model_flops_per_step = flops.model;
  report.model_flops_per_step_causal = flops.model_causal;
  const double devices = context.shape.devices;
  trace.Input("devices", devices, "training.devices");
  const double batch = static_cast<double>(run.global_batch), sequence = context.shape.sequence;
  trace.Input("batch", batch, "training.global_batch");
  trace.Input("sequence", sequence, "training.sequence");
  const Tokens token = 1 * kToken, tokens = run.tokens;
  trace.Input("tokens", tokens, "training.tokens");
  const Seconds step_time = report.step_time;
  const Flops model_flops = flops.model, model_flops_causal = flops.model_causal, hardware_flops = flops.hardware;
  const FlopsPerSecond peak_rate = PeakRate(device, run.precision, trace);
  FIGURE(trace, tokens_per_s, batch * sequence * token / step_time, (Note{"Tokens a second", "all devices", "", "training.tokens_per_s"}),
         batch, sequence, token, step_time);
  const Flops executed_flops = report.executed_flops;
  FIGURE(
      trace, arithmetic_utilization, executed_flops / (peak_rate * step_time),
      (Note{"Share of the peak that the kernels' own arithmetic fills",
            "attention only as far as the mask lets the kernels compute it; MFU and HFU count all of it and may pass 1 at long sequences",
            "", "training.arithmetic_utilization"}),
      executed_flops, peak_rate, step_time);
  report.arithmetic_utilization = arithmetic_utilization;
  FIGURE(trace, device_tokens_per_s, tokens_per_s / devices,
         (Note{"Tokens a second and device", "", "", "training.tokens_per_s_per_device"}), tokens_per_s, devices);
  FIGURE(trace, model_flops_utilization, model_flops / (devices * peak_rate * step_time),
         (Note{"Model FLOPs utilization (MFU)",
               "model FLOPs over the dense peak of the run's precision; full attention, as Megatron-LM, PaLM and MPT report it",
               "Korthikanti et al. 2022", "training.model_flops_utilization"}),
         model_flops, devices, peak_rate, step_time);
  FIGURE(trace, model_flops_utilization_causal, model_flops_causal / (devices * peak_rate * step_time),
         (Note{"MFU, causal attention", "the same with attention only to the tokens before: what to compare with runs that count it so", "",
               "training.model_flops_utilization_causal"}),
         model_flops_causal, devices, peak_rate, step_time);
  FIGURE(
      trace, hardware_flops_utilization, hardware_flops / (devices * peak_rate * step_time),
      (Note{"Hardware FLOPs utilisation", "with what is computed again", "Korthikanti et al. 2022", "training.hardware_flops_utilization"}),
      hardware_flops, devices, peak_rate, step_time);
  Tokens ramp_tokens;
  Seconds ramp_time;
  if (run.batch_ramp) {
    ramp_tokens = run.batch_ramp->tokens;
    ramp_time = RampTime(*run.batch_ramp, sequence, batch, first_step, step_time, trace);
  }
  FIGURE(trace, time_to_train, ramp_time + (tokens - ramp_tokens) / tokens_per_s,
         (Note{"Time to train", "steps without interruption", "", "training.time_to_train_s"}), ramp_time, tokens, ramp_tokens,
         tokens_per_s);
  FIGURE(trace, device_seconds, time_to_train * devices, (Note{"Device time", "of the whole run"}), time_to_train, devices);
  // Matrix units at work draw the design power; a device that waits, its idle power.
  const StepTime& time = report.time;
  const Seconds busy_time = time.forward + time.backward + time.recompute + time.optimizer;
  const Watts tdp = device.tdp, idle = min(device.idle, device.tdp);
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("idle", idle, "cluster.device.idle");
  FIGURE(trace, mean_power, idle + (tdp - idle) * busy_time / step_time,
         (Note{"Mean power of a device", "design power while it computes, idle power while it waits"}), idle, tdp, busy_time, step_time);
  FIGURE(trace, device_energy, device_seconds * mean_power,
         (Note{"Energy of the devices over the run", "", "", "training.device_energy_j"}), device_seconds, mean_power);
  report.tokens_per_s = tokens_per_s;
  report.tokens_per_s_per_device = device_tokens_per_s;
  report.model_flops_utilization = model_flops_utilization;
  report.model_flops_utilization_causal = model_flops_utilization_causal;
  report.hardware_flops_utilization = hardware_flops_utilization;
  report.time_to_train = time_to_train;
  report.device_seconds = device_seconds;
  report.energy = device_energy;
  if (std::string text = SubstitutionText(device, run.precision); advice && !text.empty()) report.warnings.push_back(text + ".");
  if (advice) report.assumed = AssumedInputs(context);
  const double steps = tokens / (batch * sequence * token);
  if (advice) report.run = WithInterruptions(context, {time_to_train, device_seconds, mean_power, steps * model_flops}, trace);

  const Bytes needed = report.memory.Total();
  if (needed > report.capacity) {
    std::string message;
    if (advice) {
      const std::string nearest = NearestFit(context, report.capacity);
      message = "the fullest stage needs " + GibText(needed) + " of " + GibText(report.capacity) +
                (nearest.empty() ? "; no smaller micro-batch, sharding or split of this run on these devices fits" : "; " + nearest);
    }
    report.infeasible.push_back({"memory", message});
  }
  Bytes on_host = report.memory.host;
  for (const TrainingStage& stage : report.stages) on_host = max(on_host, stage.memory.host);
  if (on_host > device.host.memory) {
    report.infeasible.push_back({"host_memory", advice ? "offloading needs " + GibText(on_host) + " of the host's " +
                                                             GibText(device.host.memory) + " a device; offload a smaller share"
                                                       : ""});
  }
}

}  // namespace slipstick
