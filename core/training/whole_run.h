// From a step to the run: rates, utilisation, time and energy to train, whether it fits.
#pragma once

#include <vector>

#include "core/training/flops.h"
#include "core/training/memory.h"
#include "core/training/training.h"

namespace slipstick {

// Fills what follows from step_time, time, memory and stages. `known` is the step's arithmetic where it was counted before;
// `first_step` is the step at the start of a batch ramp.
void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice, Seconds first_step,
                  TrainingReport& report, Trace& trace);

// The nearest change of the run under which it would fit, as a sentence; "" where none of those tried would.
std::string NearestFit(const TrainingContext& context, Bytes capacity);

}  // namespace slipstick
