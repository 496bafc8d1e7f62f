#include "core/training/interruptions.h"

#include "core/base/figure.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

constexpr std::string_view kDaly =
    "Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, 2006";
constexpr std::string_view kYoung = "Young, A first order approximation to the optimum checkpoint interval, 1974";
constexpr std::string_view kHoffmann = "Hoffmann et al., Training Compute-Optimal Large Language Models, 2022";
// With more mean times between interruptions per interval, practically no interval is ever completed: only one of e^20
// attempts.
constexpr double kMaxMtbfsPerInterval = 20;

// The part of a checkpoint's write that runs in the background. No interval is shorter; work since its start is lost.
Seconds Behind(const InterruptedRun& run, const Checkpoint& checkpoint) { return run.asynchronous * checkpoint.write; }

}  // namespace

Seconds MeanTimeBetweenInterruptions(const InterruptedRun& run) {
  return Figure("Mean time between interruptions", run.asked.device_mtbf / run.devices,
                "devices fail independently of each other",
                "419 in 54 days on 16,384 H100: Grattafiori et al., The Llama 3 Herd of Models, 2024");
}

Checkpoint CheckpointOf(const InterruptedRun& run) {
  const Ratio stored = run.adapters.value_or(
      Figure("Stored parameters", run.parameters + run.mtp_parameters, "in a checkpoint; MTP modules included"));
  Checkpoint checkpoint;
  checkpoint.size =
      Figure("Checkpoint size", (run.weight_bytes + run.optimizer_bytes) * kB * stored, "weights and optimizer state");
  checkpoint.write = Figure("Checkpoint write", checkpoint.size / (run.devices * run.asked.storage_bandwidth),
                            "or its read: all devices handle an equal share");
  const Seconds copy =
      Figure("Checkpoint copy", checkpoint.size / (run.devices * run.host_bandwidth), "to host memory");
  checkpoint.stall = Figure("Stall per checkpoint",
                            (1 - run.asynchronous) * checkpoint.write + run.asynchronous * min(copy, checkpoint.write),
                            "the write, or only the copy to host memory with asynchronous checkpoints");
  return checkpoint;
}

CheckpointIntervals IntervalsOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds mean_time_between) {
  CheckpointIntervals intervals;
  intervals.young =
      Figure("Optimal checkpoint interval, first order", sqrt(2 * checkpoint.stall * mean_time_between), "", kYoung);
  const Ratio relative_stall = Figure(
      "Relative stall", sqrt(min(1, checkpoint.stall / (2 * mean_time_between))),
      "root of the stall over twice the mean time between interruptions; at most 1, where the series ends", kDaly);
  intervals.daly = Figure("Optimal checkpoint interval, higher order",
                          2 * mean_time_between * relative_stall *
                              (1 + relative_stall / 3 + relative_stall * relative_stall / 9 - relative_stall),
                          "", kDaly);
  intervals.chosen = Figure("Checkpoint interval",
                            max(run.asked.checkpoint_interval.value_or(intervals.daly), Behind(run, checkpoint)),
                            "as requested, else the optimum");
  return intervals;
}

std::optional<WallTime> WallTimeOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds checkpoint_interval,
                                   Seconds mean_time_between) {
  const Seconds recovery = Figure(
      "Recovery time per interruption", run.asked.restart + checkpoint.write + Behind(run, checkpoint),
      "restart, reading the checkpoint, and with asynchronous checkpoints the work since one still being written",
      "restart under 10 minutes: Jiang et al., MegaScale, 2024");
  const Seconds cycle = checkpoint_interval + checkpoint.stall + recovery;
  if (cycle / mean_time_between > kMaxMtbfsPerInterval) return std::nullopt;
  WallTime wall;
  wall.goodput = Figure("Goodput",
                        checkpoint_interval / (mean_time_between * exp(recovery / mean_time_between) *
                                               (exp((checkpoint_interval + checkpoint.stall) / mean_time_between) - 1)),
                        "uninterrupted training time over wall time; interruptions at any moment", kDaly);
  wall.total = Figure("Wall time to train", run.time / wall.goodput, "with checkpoints, lost work and restarts");
  wall.interruptions = Figure("Expected interruptions", wall.total / mean_time_between);
  const Seconds waiting = Figure(
      "Waiting time",
      min(wall.total - run.time, wall.interruptions * recovery + run.time / checkpoint_interval * checkpoint.stall),
      "in restarts and checkpoints; the rest of the added wall time is repeated work");
  wall.device_seconds = Figure("Device time of the run", wall.total * run.devices, "with interruptions");
  wall.energy = Figure("Training energy of all devices",
                       run.devices * ((wall.total - waiting) * run.mean_power + waiting * min(run.idle, run.tdp)),
                       "with interruptions; waiting devices draw idle power");
  return wall;
}

Tokens ComputeOptimalTokens(Ratio parameters) {
  return Figure("Compute-optimal tokens for this model", 20 * kToken * parameters,
                "20 per parameter; all experts are counted, so for MoE a rough guide", kHoffmann);
}

Ratio ComputeOptimalParameters(Flops arithmetic) {
  return Figure("Compute-optimal parameters for this arithmetic", sqrt(arithmetic / (6 * 20 * kFlop)),
                "6 FLOP per parameter and token, 20 tokens per parameter", kHoffmann);
}

Seconds RampTime(const GrowingBatch& batch) {
  const auto& [start, full, tokens, sequence, start_time, full_time] = batch;
  const Ratio sequences = Figure("Sequences of the ramp", tokens / (sequence * kToken));
  if (start >= full) return Figure("Time of the batch ramp", sequences / full * full_time, "which begins at its end");
  const Seconds added_time = Figure("Step time per added sequence", (full_time - start_time) / (full - start),
                                    "between the first batch and the full one");
  const Seconds fixed_time = Figure("Step time independent of the batch", full_time - added_time * full);
  return Figure("Time of the batch ramp", sequences * (fixed_time * log(full / start) / (full - start) + added_time),
                "step time over batch, integrated over the growing batch");
}

}  // namespace slipstick
