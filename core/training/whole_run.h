// From a step to the run: throughput, utilization, time and energy to train, and whether it fits.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/recompute_choice.h"

namespace slipstick {

// Fills the figures that follow from step_time, time, memory and stages. `known`: the FLOPs of the step; null if not
// yet counted. `first_step`: step time at the start of a batch ramp. `advice`: as in TrainingDetail.
void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice,
                  Seconds first_step, TrainingReport& report);

}  // namespace slipstick
