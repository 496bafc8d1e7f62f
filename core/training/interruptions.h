// A whole run with its interruptions: checkpoints, lost work, restarts, and how long it takes by the calendar.
#pragma once

#include "core/training/context.h"
#include "core/training/training.h"

namespace slipstick {

// What the run without interruptions is.
struct PlainRun {
  Seconds time, device_seconds;
  Watts mean_power;  // of a device
  Flops arithmetic;  // of the model, all steps
};

// Interruptions are taken as a Poisson process over all devices; the optimal interval is Young's (1974) and, of higher order,
// Daly's (2006), the wall time Daly's complete model. Steps are the caller's.
RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace);

// Time of the first tokens of a run whose batch grows from `start` to `full` sequences evenly with the tokens seen, where a step
// takes a time linear in its batch: start_time at the start, full_time at the end.
Seconds RampTime(const BatchRamp& ramp, double sequence, double full, Seconds start_time, Seconds full_time, Trace& trace);

}  // namespace slipstick
