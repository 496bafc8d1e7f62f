// Where callers that name their terms meet the numbers of this folder that remember: inputs get the nodes of what a
// trace knows them by, and what the report shows gets its paths. It goes when no caller names its terms any more.
#pragma once

#include "core/training/step_breakdown.h"
#include "core/training/step_terms.h"
#include "core/training/training_report.h"
#include "core/training_stage/named_terms.h"

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
// `first_step`: at the start of a batch ramp. Names: model_flops, … , executed_flops, step_time and its parts.
TimedRun TimedRunOf(const TrainingContext& context, const StepFlops& flops, Seconds first_step,
                    const TrainingReport& report, Trace& trace);

// What the report shows of a step, and of the run without interruptions. Later figures find "step_time",
// "time_to_train", "device_seconds" and "device_energy".
void Show(const StepBreakdown& step, Trace& trace);
void ShowRates(const TrainingReport& report, Trace& trace);
void Show(const TrainingMemory& memory, Trace& trace);  // "total"

// The run without interruptions. Names: time_to_train, mean_power, run_flops.
struct PlainRun {
  Seconds time;
  Watts mean_power;  // per device
  Flops arithmetic;  // model FLOPs of all steps
};
// The device time is the figure "device_seconds".
RunReport WithInterruptions(const TrainingContext& context, const PlainRun& plain, Trace& trace);

// The time while the run's batch grows: the figure "ramp_time". Names: counted, step_time.
Seconds RampTime(const TrainingContext& context, Seconds start_time, Seconds step_time, Trace& trace);

}  // namespace slipstick
