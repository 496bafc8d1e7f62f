#include "core/training/named_terms.h"

#include <string>
#include <utility>

#include "core/base/figure.h"
#include "core/operators/efficiency.h"
#include "core/training/interruptions.h"
#include "core/training_stage/named_terms.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

InterruptedRun InterruptedRunOf(const TrainingContext& context, const PlainRun& plain) {
  const Device& device = context.device();
  const ParameterCount count = CountParameters(context.model);
  const StateBytes state = StateBytesOf(context);
  InterruptedRun run;
  run.asked = context.run.interruptions;
  run.asynchronous = InputAt("training.interruptions.asynchronous_checkpoints",
                             Ratio(run.asked.asynchronous_checkpoints ? 1 : 0), context);
  run.devices = InputAt("training.devices", Ratio(context.shape.devices), context);
  run.parameters = count.total;
  run.mtp_parameters = count.mtp;
  if (context.run.trainable == Trainable::kLora) run.adapters = AdapterParameters(context.model, context.run.framework);
  run.weight_bytes = state.weights;
  run.optimizer_bytes = state.optimizer;
  run.host_bandwidth = device.host.bandwidth;
  run.idle = device.idle;
  run.tdp = device.tdp;
  run.time = plain.time;
  run.mean_power = plain.mean_power;
  return run;
}

}  // namespace

TimedRun TimedRunOf(const TrainingContext& context, const StepFlops& flops, Seconds first_step,
                    const TrainingReport& report) {
  const Device& device = context.device();
  const StepTime& time = report.time;
  TimedRun run;
  run.devices = InputAt("training.devices", Ratio(context.shape.devices), context);
  run.batch = Ratio(context.run.global_batch);
  run.sequence = context.shape.sequence;
  run.counted = context.shape.counted;
  run.tokens = context.run.tokens;
  run.step_time = report.step_time;
  if (context.run.batch_ramp) run.ramp = {RampTime(context, first_step, run.step_time), context.run.batch_ramp->tokens};
  run.peak = PeakRate(context.prepared->requested.device, context.run.precision);
  run.flops = flops;
  run.executed = report.hardware_flops_per_device;
  run.busy =
      Figure("Busy time", time.forward + time.backward + time.recompute + time.optimizer, "a device computes in it");
  run.tdp = device.tdp;
  run.idle = min(device.idle, run.tdp);
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

Bytes Show(const TrainingMemory& memory, Trace& trace) {
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
  return total;
}

void ShowRates(const StepFlops& flops, const TrainingReport& report, Trace& trace) {
  if (!trace.on()) return;
  trace.Report("training.model_flops_per_step", flops.model);
  trace.Report("training.model_flops_per_step_causal", flops.model_causal);
  trace.Report("training.tokens_per_s", report.tokens_per_s);
  trace.Report("training.useful_tokens_per_s", report.useful_tokens_per_s);
  trace.Report("training.tokens_per_s_per_device", report.tokens_per_s_per_device);
  trace.Report("training.arithmetic_utilization", report.arithmetic_utilization);
  trace.Report("training.model_flops_utilization", report.model_flops_utilization);
  trace.Report("training.model_flops_utilization_causal", report.model_flops_utilization_causal);
  trace.Report("training.hardware_flops_utilization", report.hardware_flops_utilization);
  trace.Report("training.time_to_train_s", report.time_to_train);
  trace.Report("training.device_energy_j", report.energy);
}

RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace) {
  const Trace::Scope scope(trace, "run");
  const auto shown = [&trace](const std::string& figure, auto value) {
    trace.Report("training.run." + figure, value);
    return value;
  };
  const InterruptedRun run = InterruptedRunOf(context, plain);
  RunReport report;
  report.compute_optimal_tokens = shown("compute_optimal_tokens", ComputeOptimalTokens(run.parameters));
  report.compute_optimal_parameters = shown("compute_optimal_parameters", ComputeOptimalParameters(plain.arithmetic));
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
  report.energy = shown("device_energy_j", wall->energy);
  return report;
}

Seconds RampTime(const TrainingContext& context, Seconds start_time, Seconds step_time) {
  const BatchRamp& ramp = *context.run.batch_ramp;
  GrowingBatch batch;
  batch.start = Ratio(ramp.start);
  batch.full = Ratio(context.run.global_batch);
  batch.tokens = ramp.tokens;
  batch.sequence = context.shape.counted;
  batch.start_time =
      Procedure("Step time of the first batch", start_time, {batch.start}, "a step with fewer sequences");
  batch.full_time = step_time;
  return RampTime(batch);
}

}  // namespace slipstick
