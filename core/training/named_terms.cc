#include "core/training/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/training/interruptions.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {
namespace {

template <class Q>
Q InputAt(Q value, const std::string& path, Trace& trace) {
  BindInputs(value, path, trace);
  return value;
}

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
