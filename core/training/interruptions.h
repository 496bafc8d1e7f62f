// A run with interruptions (checkpoints, lost work, restarts), and a run whose batch grows.
//
// Interruptions are a Poisson process over all devices. Checkpoint intervals follow Young (1974) and Daly (2006); the
// wall time follows Daly's complete model.
#pragma once

#include <optional>

#include "core/training_stage/training_run.h"

namespace slipstick {

struct InterruptedRun {
  Interruptions asked;
  Ratio asynchronous;  // 1: training continues while a checkpoint is written; 0: it waits
  Ratio devices;
  Ratio parameters, mtp_parameters;     // of the model
  std::optional<Ratio> adapters;        // parameters of low-rank adapters; if set, checkpoints store only these
  Ratio weight_bytes, optimizer_bytes;  // per parameter
  BytesPerSecond host_bandwidth;
  // Values of the run without interruptions.
  Seconds time;
  Watts mean_power, idle, tdp;  // per device
};

Seconds MeanTimeBetweenInterruptions(const InterruptedRun& run);

struct Checkpoint {
  Bytes size;     // of the whole model
  Seconds write;  // or read; the whole checkpoint
  Seconds stall;  // of training, per checkpoint
};
Checkpoint CheckpointOf(const InterruptedRun& run);

struct CheckpointIntervals {
  Seconds young, daly, chosen;
};
CheckpointIntervals IntervalsOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds mean_time_between);

struct WallTime {
  Ratio goodput;  // uninterrupted time over wall time
  Seconds total;
  Ratio interruptions;  // expected number
  Seconds device_seconds;
  Joules energy;  // of all devices
};
// Nothing if practically no checkpoint is ever completed.
std::optional<WallTime> WallTimeOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds checkpoint_interval,
                                   Seconds mean_time_between);

Tokens ComputeOptimalTokens(Ratio parameters);
Ratio ComputeOptimalParameters(Flops arithmetic);

// The batch grows linearly with the tokens seen, from `start` to `full` sequences; step time is linear in the batch,
// from start_time to full_time.
struct GrowingBatch {
  Ratio start, full;
  Tokens tokens;   // seen during the growth
  Ratio sequence;  // tokens per sequence that count, without padding
  Seconds start_time, full_time;
};
Seconds RampTime(const GrowingBatch& batch);

}  // namespace slipstick
