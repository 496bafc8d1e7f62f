// Where callers that name their terms meet the numbers of this folder that remember: inputs get the nodes of what a
// trace knows them by, and what the report shows gets its paths. It goes when no caller names its terms any more.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/context.h"

namespace slipstick {

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
