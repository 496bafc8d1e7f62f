// A run with interruptions: checkpoints, lost work, restarts; and a run whose batch grows.
//
// Interruptions are a Poisson process over all devices. Checkpoint intervals are Young's (1974) and Daly's (2006), the
// wall time is that of Daly's complete model.
#pragma once

#include <optional>

#include "core/training_stage/training_run.h"

namespace slipstick {

struct InterruptedRun {
  Interruptions asked;
  Ratio asynchronous;  // 1: training goes on while a checkpoint is written; 0: it waits
  Ratio devices;
  Ratio parameters, mtp_parameters;     // of the model
  std::optional<Ratio> adapters;        // parameters of low-rank adapters, then all that a checkpoint stores
  Ratio weight_bytes, optimizer_bytes;  // per parameter
  BytesPerSecond host_bandwidth;
  // Without interruptions.
  Seconds time;
  Watts mean_power, idle, tdp;  // per device
};

Seconds MeanTimeBetweenInterruptions(const InterruptedRun& run);

struct Checkpoint {
  Bytes size;     // of the whole model
  Seconds write;  // or read
  Seconds stall;  // of training
};
Checkpoint CheckpointOf(const InterruptedRun& run);

struct CheckpointIntervals {
  Seconds young, daly, chosen;
};
CheckpointIntervals IntervalsOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds mean_time_between);

struct WallTime {
  Ratio goodput;  // uninterrupted time over wall time
  Seconds total;
  Ratio interruptions;  // expected
  Seconds device_seconds;
  Joules energy;  // of all devices
};
// None where practically no checkpoint is ever reached.
std::optional<WallTime> WallTimeOf(const InterruptedRun& run, const Checkpoint& checkpoint, Seconds checkpoint_interval,
                                   Seconds mean_time_between);

Tokens ComputeOptimalTokens(Ratio parameters);
Ratio ComputeOptimalParameters(Flops arithmetic);

// The batch grows linearly with the tokens seen, from `start` to `full` sequences; step time is linear in the batch,
// from start_time to full_time.
struct GrowingBatch {
  Ratio start, full;
  Tokens tokens;   // seen while it grows
  Ratio sequence;  // tokens of a sequence that count
  Seconds start_time, full_time;
};
Seconds RampTime(const GrowingBatch& batch);

}  // namespace slipstick
