// From a step to the run: throughput, utilization, time and energy to train, whether it fits.
#pragma once

#include <string>

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/recompute_choice.h"

namespace slipstick {

// Fills what follows from step_time, time, memory and stages. `known`: the FLOPs of the step, null if not counted yet.
// `first_step`: time of the step at the start of a batch ramp. `advice`: as in TrainingDetail.
void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice,
                  Seconds first_step, TrainingReport& report);

// The smallest change under which the run would fit, as a phrase; "" where none of those tried fits.
std::string NearestFit(const TrainingContext& context, Bytes capacity);

}  // namespace slipstick
