// From a step to the run: throughput, utilization, time and energy to train, and whether it fits.
#pragma once

#include <string>

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/recompute_choice.h"

namespace slipstick {

// Fills the figures that follow from step_time, time, memory and stages. `known`: the FLOPs of the step; null if not
// yet counted. `first_step`: step time at the start of a batch ramp. `advice`: as in TrainingDetail.
void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice,
                  Seconds first_step, TrainingReport& report);

// The smallest change that makes the run fit, as a phrase; "" if none of the tried changes does.
std::string NearestFit(const TrainingContext& context, Bytes capacity);

// The numbers from which the rates of a run are computed.
struct TimedRun {
  Ratio devices, batch;     // sequences of a step
  Ratio sequence, counted;  // tokens per sequence; of these, tokens that are not padding
  Tokens tokens;            // of the run
  struct {
    Seconds time;
    Tokens tokens;
  } ramp{};             // of a growing batch
  FlopsPerSecond peak;  // per device
  StepFlops flops;
  Flops executed;           // per device
  Seconds step_time, busy;  // busy: part of the step in which a device computes
  Watts idle, tdp;
};
// `first_step`: step time at the start of a batch ramp.
TimedRun TimedRunOf(const TrainingContext& context, const StepFlops& flops, Seconds first_step,
                    const TrainingReport& report);

// The run without interruptions.
struct PlainRun {
  Seconds time;
  Watts mean_power;  // per device
  Flops arithmetic;  // model FLOPs of all steps
};
RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain);

// Time of the steps while the run's batch grows.
Seconds RampTime(const TrainingContext& context, Seconds start_time, Seconds step_time);

}  // namespace slipstick
