#include "core/training/interruptions.h"

#include "core/training/memory.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

constexpr std::string_view kDaly =
    "Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, 2006";
constexpr std::string_view kYoung = "Young, A first order approximation to the optimum checkpoint interval, 1974";
constexpr std::string_view kHoffmann = "Hoffmann et al., Training Compute-Optimal Large Language Models, 2022";
// With more mean times between interruptions per interval, practically no interval is ever completed: one of e^20
// attempts is.
constexpr double kMaxMtbfsPerInterval = 20;

void ComputeOptimum(const TrainingContext& context, const PlainRun& plain, RunReport& report, Trace& trace) {
  const double parameters = CountParameters(context.model).total;
  const Tokens twenty = 20 * kToken;
  CONSTANTS(trace, "training.run", kHoffmann, twenty);
  trace.Alias("parameters", parameters, "total_parameters");
  FIGURE(trace, compute_optimal_tokens, twenty * parameters,
         (Note{"Compute-optimal tokens for this model",
               "20 per parameter; all experts are counted, so for MoE a rough guide", kHoffmann,
               "training.run.compute_optimal_tokens"}),
         twenty, parameters);
  const double arithmetic = plain.arithmetic / (1 * kFlop);
  trace.Alias("arithmetic", arithmetic, "run_flops");
  FIGURE(
      trace, compute_optimal_parameters, sqrt(arithmetic / (6 * 20)),
      (Note{"Compute-optimal parameters for this arithmetic", "6 FLOP per parameter and token, 20 tokens per parameter",
            kHoffmann, "training.run.compute_optimal_parameters"}),
      arithmetic);
  report.compute_optimal_tokens = compute_optimal_tokens;
  report.compute_optimal_parameters = compute_optimal_parameters;
}

// Parameters that a checkpoint stores.
double StoredParameters(const TrainingContext& context, Trace& trace) {
  const TrainingRun& run = context.run;
  if (run.trainable == Trainable::kLora) {
    const double adapters = AdapterParameters(context.model, run.framework);
    trace.Alias("stored", adapters, "adapters");
    return adapters;
  }
  const ParameterCount count = CountParameters(context.model);
  const double total_parameters = count.total, mtp_parameters = count.mtp;
  FIGURE(trace, stored, total_parameters + mtp_parameters,
         (Note{"Parameters that a checkpoint stores", "MTP modules included"}), total_parameters, mtp_parameters);
  return stored;
}

// Size of a checkpoint and how long training stalls for one. Returns the time to write or read it.
Seconds TimeCheckpoint(const TrainingContext& context, RunReport& report, Trace& trace) {
  const TrainingRun& run = context.run;
  const Interruptions& input = run.interruptions;
  const double stored = StoredParameters(context, trace);
  const double devices = context.shape.devices;
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  const double weight_bytes = state.weights, state_optimizer = state.optimizer;
  FIGURE(trace, checkpoint_bytes, (weight_bytes + state_optimizer) * kB * stored,
         (Note{"Checkpoint size", "weights and optimizer state", "", "training.run.checkpoint_bytes"}), weight_bytes,
         state_optimizer, stored);
  const BytesPerSecond storage_bandwidth = input.storage_bandwidth;
  trace.Input("storage_bandwidth", storage_bandwidth, "training.interruptions.storage_bandwidth");
  FIGURE(trace, write_time, checkpoint_bytes / (devices * storage_bandwidth),
         (Note{"Time to write or read a checkpoint", "all devices handle an equal share"}), checkpoint_bytes, devices,
         storage_bandwidth);
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
  FIGURE(trace, copy_time, checkpoint_bytes / (devices * host_bandwidth),
         (Note{"Time to copy a checkpoint to host memory", ""}), checkpoint_bytes, devices, host_bandwidth);
  const double waits = input.asynchronous_checkpoints ? 0 : 1;
  trace.Input("waits", waits, "training.interruptions.asynchronous_checkpoints");
  FIGURE(trace, checkpoint_stall, waits * write_time + (1 - waits) * min(copy_time, write_time),
         (Note{"Stall per checkpoint", "the write, or only the copy to host memory with asynchronous checkpoints", "",
               "training.run.checkpoint_stall_s"}),
         waits, write_time, copy_time);
  report.checkpoint = checkpoint_bytes;
  report.checkpoint_stall = checkpoint_stall;
  return write_time;
}

// `behind`: time to write a checkpoint in the background, which the interval cannot be shorter than.
void ChooseInterval(const Interruptions& input, Seconds behind, RunReport& report, Trace& trace) {
  const Seconds mean_time_between_interruptions = report.mean_time_between_interruptions,
                checkpoint_stall = report.checkpoint_stall;
  FIGURE(trace, young_interval, sqrt(2 * checkpoint_stall * mean_time_between_interruptions),
         (Note{"Optimal checkpoint interval, first order", "", kYoung, "training.run.young_interval_s"}),
         checkpoint_stall, mean_time_between_interruptions);
  FIGURE(trace, relative_stall, sqrt(min(1.0, checkpoint_stall / (2 * mean_time_between_interruptions))),
         (Note{"Root of the stall over twice the mean time between interruptions", "at most 1, where the series ends",
               kDaly}),
         checkpoint_stall, mean_time_between_interruptions);
  FIGURE(trace, daly_interval,
         2 * mean_time_between_interruptions * relative_stall *
             (1 + relative_stall / 3 + relative_stall * relative_stall / 9 - relative_stall),
         (Note{"Optimal checkpoint interval, higher order", "", kDaly, "training.run.daly_interval_s"}),
         mean_time_between_interruptions, relative_stall);
  const Seconds chosen = input.checkpoint_interval.value_or(daly_interval);
  if (input.checkpoint_interval) {
    trace.Input("chosen", chosen, "training.interruptions.checkpoint_interval");
  } else {
    trace.Alias("chosen", chosen, "daly_interval");
  }
  FIGURE(trace, checkpoint_interval, max(chosen, behind),
         (Note{"Checkpoint interval", "as requested, else the optimum", "", "training.run.checkpoint_interval_s"}),
         chosen, behind);
  report.young_interval = young_interval;
  report.daly_interval = daly_interval;
  report.checkpoint_interval = checkpoint_interval;
}

// Daly's complete model.
void TimeWithInterruptions(const TrainingContext& context, const PlainRun& plain, Seconds recovery_time,
                           RunReport& report, Trace& trace) {
  const double devices = context.shape.devices;
  const Seconds mean_time_between_interruptions = report.mean_time_between_interruptions, time_to_train = plain.time;
  const Seconds checkpoint_interval = report.checkpoint_interval, checkpoint_stall = report.checkpoint_stall;
  FIGURE(trace, goodput,
         checkpoint_interval / (mean_time_between_interruptions * exp(recovery_time / mean_time_between_interruptions) *
                                (exp((checkpoint_interval + checkpoint_stall) / mean_time_between_interruptions) - 1)),
         (Note{"Goodput", "uninterrupted training time over wall time; interruptions at any moment", kDaly,
               "training.run.goodput"}),
         checkpoint_interval, mean_time_between_interruptions, recovery_time, checkpoint_stall);
  FIGURE(trace, wall_time, time_to_train / goodput,
         (Note{"Wall time to train", "with checkpoints, lost work and restarts", "", "training.run.wall_time_s"}),
         time_to_train, goodput);
  FIGURE(trace, interruptions, wall_time / mean_time_between_interruptions,
         (Note{"Expected interruptions", "", "", "training.run.interruptions"}), wall_time,
         mean_time_between_interruptions);
  FIGURE(trace, waiting_time,
         min(wall_time - time_to_train,
             interruptions * recovery_time + time_to_train / checkpoint_interval * checkpoint_stall),
         (Note{"Time spent in restarts and checkpoints", "the rest of the added wall time is repeated work"}),
         wall_time, time_to_train, interruptions, recovery_time, checkpoint_interval, checkpoint_stall);
  FIGURE(trace, device_seconds, wall_time * devices, (Note{"Device time of the run", "with interruptions"}), wall_time,
         devices);
  const Watts mean_power = plain.mean_power, idle = min(context.device().idle, context.device().tdp);
  FIGURE(trace, device_energy, devices * ((wall_time - waiting_time) * mean_power + waiting_time * idle),
         (Note{"Training energy of all devices", "with interruptions; waiting devices draw idle power", "",
               "training.run.device_energy_j"}),
         devices, wall_time, waiting_time, mean_power, idle);
  report.goodput = goodput;
  report.wall_time = wall_time;
  report.interruptions = interruptions;
  report.device_seconds = device_seconds;
  report.energy = device_energy;
}

}  // namespace

RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace) {
  Trace::Scope scope(trace, "run");
  const Interruptions& input = context.run.interruptions;
  RunReport report;
  ComputeOptimum(context, plain, report, trace);
  const Seconds device_mtbf = input.device_mtbf;
  const double devices = context.shape.devices;
  trace.Input("device_mtbf", device_mtbf, "training.interruptions.device_mtbf");
  trace.Input("devices", devices, "training.devices");
  FIGURE(trace, mean_time_between_interruptions, device_mtbf / devices,
         (Note{"Mean time between interruptions", "devices fail independently of each other",
               "419 in 54 days on 16,384 H100: Grattafiori et al., The Llama 3 Herd of Models, 2024",
               "training.run.mean_time_between_interruptions_s"}),
         device_mtbf, devices);
  report.mean_time_between_interruptions = mean_time_between_interruptions;
  const Seconds write_time = TimeCheckpoint(context, report, trace);
  const Seconds behind = input.asynchronous_checkpoints ? write_time : Seconds{};
  if (input.asynchronous_checkpoints) {
    trace.Alias("behind", behind, "write_time");
  } else {
    trace.Input("behind", behind, "training.interruptions.asynchronous_checkpoints");
  }
  ChooseInterval(input, behind, report, trace);
  const Seconds restart = input.restart;
  trace.Input("restart", restart, "training.interruptions.restart");
  FIGURE(
      trace, recovery_time, restart + write_time + behind,
      (Note{"Recovery time per interruption",
            "restart, reading the checkpoint, and with asynchronous checkpoints the work since one still being written",
            "restart under 10 minutes: Jiang et al., MegaScale, 2024"}),
      restart, write_time, behind);
  const Seconds cycle = report.checkpoint_interval + report.checkpoint_stall + recovery_time;
  if (cycle / mean_time_between_interruptions > kMaxMtbfsPerInterval) return report;
  TimeWithInterruptions(context, plain, recovery_time, report, trace);
  return report;
}

Seconds RampTime(const BatchRamp& ramp, double counted, double full, Seconds start_time, Seconds full_time,
                 Trace& trace) {
  Trace::Scope scope(trace, "ramp");
  const double ramp_tokens = In(ramp.tokens, kToken);
  const double start = static_cast<double>(ramp.start);
  trace.Input("ramp_tokens", ramp_tokens, "training.batch_ramp.tokens");
  trace.Input("start", start, "training.batch_ramp.start");
  trace.Input("full", full, "training.global_batch");
  trace.Alias("full_time", full_time, "step_time");
  FIGURE(trace, ramp_sequences, ramp_tokens / counted, (Note{"Sequences of the ramp"}), ramp_tokens, counted);
  if (start >= full) return ramp_sequences / full * full_time;
  FIGURE(trace, added_time, (full_time - start_time) / (full - start),
         (Note{"Step time per added sequence", "between the first batch and the full one"}), full_time, start_time,
         full, start);
  FIGURE(trace, fixed_time, full_time - added_time * full, (Note{"Step time independent of the batch", ""}), full_time,
         added_time, full);
  FIGURE(trace, ramp_time, ramp_sequences * (fixed_time * log(full / start) / (full - start) + added_time),
         (Note{"Time of the batch ramp", "step time over batch, integrated over the growing batch"}), ramp_sequences,
         fixed_time, full, start, added_time);
  return ramp_time;
}

}  // namespace slipstick
