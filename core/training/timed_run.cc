#include "core/training/timed_run.h"

#include <string>
#include <utility>

#include "core/base/figure.h"
#include "core/operators/efficiency.h"
#include "core/training/interruptions.h"
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
                             Ratio(run.asked.asynchronous_checkpoints ? 1 : 0), context.tape);
  run.devices = InputAt("training.devices", Ratio(context.shape.devices), context.tape);
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
  run.devices = InputAt("training.devices", Ratio(context.shape.devices), context.tape);
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

RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain) {
  const InterruptedRun run = InterruptedRunOf(context, plain);
  RunReport report;
  report.compute_optimal_tokens = ComputeOptimalTokens(run.parameters);
  report.compute_optimal_parameters = ComputeOptimalParameters(plain.arithmetic);
  const Seconds mean_time_between = MeanTimeBetweenInterruptions(run);
  report.mean_time_between_interruptions = mean_time_between;
  const Checkpoint checkpoint = CheckpointOf(run);
  report.checkpoint = checkpoint.size;
  report.checkpoint_stall = checkpoint.stall;
  const CheckpointIntervals intervals = IntervalsOf(run, checkpoint, mean_time_between);
  report.young_interval = intervals.young;
  report.daly_interval = intervals.daly;
  report.checkpoint_interval = intervals.chosen;
  const std::optional<WallTime> wall = WallTimeOf(run, checkpoint, intervals.chosen, mean_time_between);
  if (!wall) return report;
  report.goodput = wall->goodput;
  report.wall_time = wall->total;
  report.interruptions = wall->interruptions;
  report.device_seconds = wall->device_seconds;
  report.energy = wall->energy;
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
