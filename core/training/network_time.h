// The exposed communication of a step by the network level that each group of ranks waits for.
#pragma once

#include <vector>

#include "core/training/training_report.h"
#include "core/training_stage/context.h"

namespace slipstick {

std::vector<NetworkLevelTime> NetworkTimeByLevel(const TrainingContext& context, const StepTime& time);

}  // namespace slipstick
