// Warnings if a framework runs the requested options differently, or not at all.
#pragma once

#include <string>
#include <vector>

#include "core/training_stage/context.h"

namespace slipstick {

// Warns if experts are whole without expert_tp, where the framework splits them by default: memory and time differ.
void WarnOfWholeExperts(const TrainingContext& context, std::vector<std::string>& warnings);

// Warns about parallelism, schedules and batches that the framework is known not to run.
void WarnBeyondFramework(const TrainingContext& context, std::vector<std::string>& warnings);

}  // namespace slipstick
