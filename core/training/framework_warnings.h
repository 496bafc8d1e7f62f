// What a run asks of its framework that the framework does otherwise, or not at all.
#pragma once

#include <string>
#include <vector>

#include "core/training_stage/context.h"

namespace slipstick {

// Without expert_tp experts are not split, unlike in a framework that splits them by default: memory and time differ.
void WarnOfWholeExperts(const TrainingContext& context, std::vector<std::string>& warnings);

// Names parallelism, schedules and batches that the framework's code does not run, where that is known.
void WarnBeyondFramework(const TrainingContext& context, std::vector<std::string>& warnings);

}  // namespace slipstick
