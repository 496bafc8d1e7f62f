#include "core/training/named_terms.h"

#include <string>
#include <utility>

#include "core/base/figure.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/training/interruptions.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {
namespace {

InterruptedRun NamedRun(const TrainingContext& context, const PlainRun& plain, Trace& trace) {
  const Device& device = context.device();
  const ParameterCount count = CountParameters(context.model);
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  InterruptedRun run;
  run.asked = context.run.interruptions;
  BindInputs(run.asked, "training.interruptions", trace);
  run.asynchronous = InputAt(Ratio(run.asked.asynchronous_checkpoints ? 1 : 0),
                             "training.interruptions.asynchronous_checkpoints", trace);
  run.devices = InputAt(Ratio(context.shape.devices), "training.devices", trace);
  run.parameters = trace.Carry("total_parameters", Ratio(count.total));
  run.mtp_parameters = trace.Carry("mtp_parameters", Ratio(count.mtp));
  if (context.run.trainable == Trainable::kLora)
    run.adapters = trace.Carry("adapters", Ratio(AdapterParameters(context.model, context.run.framework)));
  run.weight_bytes = trace.Carry("weight_bytes", Ratio(state.weights));
  run.optimizer_bytes = trace.Carry("state_optimizer", Ratio(state.optimizer));
  run.host_bandwidth = InputAt(device.host.bandwidth, "cluster.device.host.bandwidth", trace);
  run.idle = InputAt(device.idle, "cluster.device.idle", trace);
  run.tdp = InputAt(device.tdp, "cluster.device.tdp", trace);
  run.time = trace.Carry("time_to_train", plain.time);
  run.mean_power = trace.Carry("mean_power", plain.mean_power);
  return run;
}

}  // namespace

TimedRun TimedRunOf(const TrainingContext& context, const StepFlops& flops, Seconds first_step,
                    const TrainingReport& report, Trace& trace) {
  const Device& device = context.device();
  const StepTime& time = report.time;
  TimedRun run;
  run.devices = InputAt(Ratio(context.shape.devices), "training.devices", trace);
  run.batch = Ratio(context.run.global_batch);
  run.sequence = InputAt(Ratio(context.shape.sequence), "training.sequence", trace);
  run.counted = trace.Carry("counted", Ratio(context.shape.counted));
  run.tokens = context.run.tokens;
  run.step_time = trace.Carry("step_time", report.step_time);
  if (context.run.batch_ramp)
    run.ramp = {RampTime(context, first_step, run.step_time, trace), context.run.batch_ramp->tokens};
  run.peak = PeakRate(Named(context.prepared->requested.device, trace), context.run.precision);
  run.flops = {trace.Carry("model_flops", flops.model), trace.Carry("model_flops_causal", flops.model_causal),
               trace.Carry("hardware_flops", flops.hardware)};
  run.executed = trace.Carry("executed_flops", report.hardware_flops_per_device);
  run.busy =
      Figure("Busy time", time.forward + time.backward + time.recompute + time.optimizer, "a device computes in it");
  run.tdp = InputAt(device.tdp, "cluster.device.tdp", trace);
  run.idle = min(InputAt(device.idle, "cluster.device.idle", trace), run.tdp);
  return run;
}

void Show(const StepBreakdown& step, Trace& trace) {
  if (!trace.on()) return;
  const Trace::Scope step_scope(trace, "step");
  for (const auto& [part, time] : {std::pair{"forward", &StepTime::forward},
                                   {"backward", &StepTime::backward},
                                   {"recompute", &StepTime::recompute},
                                   {"tp", &StepTime::tp},
                                   {"cp", &StepTime::cp},
                                   {"ep", &StepTime::ep},
                                   {"pp", &StepTime::pp},
                                   {"dp", &StepTime::dp},
                                   {"bubble", &StepTime::bubble},
                                   {"optimizer", &StepTime::optimizer},
                                   {"other", &StepTime::other},
                                   {"offload", &StepTime::offload}}) {
    trace.Report("training.time_s." + std::string(part), step.time.*time);
  }
  trace.Report("training.step_time_s", step.step_time);
  KnownAs("step_time", step.step_time, trace);
  const Trace::Scope scope(trace, "link");
  for (const auto& [part, time] : {std::pair{"tp", &LinkTime::tp},
                                   {"cp", &LinkTime::cp},
                                   {"ep", &LinkTime::ep},
                                   {"pp", &LinkTime::pp},
                                   {"dp", &LinkTime::dp},
                                   {"offload", &LinkTime::offload}}) {
    trace.Report("training.communication_s." + std::string(part), step.link.*time);
  }
}

void Show(const TrainingMemory& memory, Trace& trace) {
  if (!trace.on()) return;
  for (const auto& [part, bytes] : {std::pair{"weights", &TrainingMemory::weights},
                                    {"gradients", &TrainingMemory::gradients},
                                    {"optimizer", &TrainingMemory::optimizer},
                                    {"activations", &TrainingMemory::activations},
                                    {"workspace", &TrainingMemory::workspace},
                                    {"host", &TrainingMemory::host}}) {
    trace.Report("training.memory_bytes." + std::string(part), memory.*bytes);
  }
  const Bytes total =
      Figure("Peak memory per device, most loaded stage", memory.Total(), "as the framework's allocator reserves it");
  trace.Report("training.memory_bytes.total", total);
  KnownAs("total", total, trace);
}

void ShowRates(const TrainingReport& report, Trace& trace) {
  if (!trace.on()) return;
  trace.Report("training.tokens_per_s", report.tokens_per_s);
  trace.Report("training.useful_tokens_per_s", report.useful_tokens_per_s);
  trace.Report("training.tokens_per_s_per_device", report.tokens_per_s_per_device);
  trace.Report("training.arithmetic_utilization", report.arithmetic_utilization);
  trace.Report("training.model_flops_utilization", report.model_flops_utilization);
  trace.Report("training.model_flops_utilization_causal", report.model_flops_utilization_causal);
  trace.Report("training.hardware_flops_utilization", report.hardware_flops_utilization);
  trace.Report("training.time_to_train_s", report.time_to_train);
  trace.Report("training.device_energy_j", report.energy);
  KnownAs("time_to_train", report.time_to_train, trace);
  KnownAs("device_seconds", report.device_seconds, trace);
  KnownAs("device_energy", report.energy, trace);
}

RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace) {
  const Trace::Scope scope(trace, "run");
  const auto shown = [&trace](const std::string& figure, auto value) {
    trace.Report("training.run." + figure, value);
    return value;
  };
  const InterruptedRun run = NamedRun(context, plain, trace);
  RunReport report;
  report.compute_optimal_tokens = shown("compute_optimal_tokens", ComputeOptimalTokens(run.parameters));
  report.compute_optimal_parameters =
      shown("compute_optimal_parameters", ComputeOptimalParameters(trace.Carry("run_flops", plain.arithmetic)));
  const Seconds mean_time_between = shown("mean_time_between_interruptions_s", MeanTimeBetweenInterruptions(run));
  report.mean_time_between_interruptions = mean_time_between;
  const Checkpoint checkpoint = CheckpointOf(run);
  report.checkpoint = shown("checkpoint_bytes", checkpoint.size);
  report.checkpoint_stall = shown("checkpoint_stall_s", checkpoint.stall);
  const CheckpointIntervals intervals = IntervalsOf(run, checkpoint, mean_time_between);
  report.young_interval = shown("young_interval_s", intervals.young);
  report.daly_interval = shown("daly_interval_s", intervals.daly);
  report.checkpoint_interval = shown("checkpoint_interval_s", intervals.chosen);
  const std::optional<WallTime> wall = WallTimeOf(run, checkpoint, intervals.chosen, mean_time_between);
  if (!wall) return report;
  report.goodput = shown("goodput", wall->goodput);
  report.wall_time = shown("wall_time_s", wall->total);
  report.interruptions = shown("interruptions", wall->interruptions);
  report.device_seconds = wall->device_seconds;
  trace.Alias("device_seconds", wall->device_seconds, "device time of the run");
  report.energy = shown("device_energy_j", wall->energy);
  return report;
}

Seconds RampTime(const TrainingContext& context, Seconds start_time, Seconds step_time, Trace& trace) {
  const Trace::Scope scope(trace, "ramp");
  const BatchRamp& ramp = *context.run.batch_ramp;
  GrowingBatch batch;
  batch.start = InputAt(Ratio(ramp.start), "training.batch_ramp.start", trace);
  batch.full = InputAt(Ratio(context.run.global_batch), "training.global_batch", trace);
  batch.tokens = InputAt(ramp.tokens, "training.batch_ramp.tokens", trace);
  batch.sequence = trace.Carry("counted", Ratio(context.shape.counted));
  batch.start_time =
      Procedure("Step time of the first batch", start_time, {batch.start}, "a step with fewer sequences");
  batch.full_time = trace.Carry("step_time", step_time);
  const Seconds time = RampTime(batch);
  trace.Alias("ramp_time", time, "time of the batch ramp");
  return time;
}

}  // namespace slipstick
