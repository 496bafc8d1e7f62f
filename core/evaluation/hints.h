// Changes that would make a training run faster but that its request rules out.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/training/training_report.h"

namespace slipstick {

// One sentence per gain that is worth a change: another mapping, for a model with experts and written degrees; a near
// batch, if the batch is written; slightly fewer devices, which split better. Each is tuned and timed, so this costs as
// much as several automatic mappings.
std::vector<std::string> TrainingHints(const Scenario& scenario, const TrainingReport& report);

}  // namespace slipstick
