// Wall time of a run with interruptions: checkpoints, lost work, restarts.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/context.h"

namespace slipstick {

// The run without interruptions.
struct PlainRun {
  Seconds time, device_seconds;
  Watts mean_power;  // per device
  Flops arithmetic;  // model FLOPs of all steps
};

// Interruptions are a Poisson process over all devices. Checkpoint intervals are Young's (1974) and Daly's (2006), the
// wall time is that of Daly's complete model.
RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace);

// Time of a batch ramp: the batch grows linearly with the tokens seen, from ramp.start to `full` sequences, and step
// time is linear in the batch, from start_time to full_time.
Seconds RampTime(const BatchRamp& ramp, double counted, double full, Seconds start_time, Seconds full_time,
                 Trace& trace);

}  // namespace slipstick
