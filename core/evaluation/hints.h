// What would make a training run faster that its request rules out.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/training/training_report.h"

namespace slipstick {

// One sentence each, of gains that are worth a change: another mapping of a model with experts whose degrees were
// written; a near batch, where one was written, or a few devices fewer, that split better. Each is tuned and timed, so
// this costs as much as some automatic mappings.
std::vector<std::string> TrainingHints(const Scenario& scenario, const TrainingReport& report);

}  // namespace slipstick
