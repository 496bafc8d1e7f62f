// What the figures of a run are computed from.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/flops.h"

namespace slipstick {

// What the rates of a run are computed from.
struct TimedRun {
  Ratio devices, batch;     // sequences of a step
  Ratio sequence, counted;  // tokens of a sequence, and of them no padding
  Tokens tokens;            // of the run
  struct {
    Seconds time;
    Tokens tokens;
  } ramp{};             // of a growing batch
  FlopsPerSecond peak;  // of a device
  StepFlops flops;
  Flops executed;           // per device
  Seconds step_time, busy;  // busy: a device computes
  Watts idle, tdp;
};
// `first_step`: at the start of a batch ramp.
TimedRun TimedRunOf(const TrainingContext& context, const StepFlops& flops, Seconds first_step,
                    const TrainingReport& report);

// The run without interruptions.
struct PlainRun {
  Seconds time;
  Watts mean_power;  // per device
  Flops arithmetic;  // model FLOPs of all steps
};
RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain);

// The time while the run's batch grows.
Seconds RampTime(const TrainingContext& context, Seconds start_time, Seconds step_time);

}  // namespace slipstick
