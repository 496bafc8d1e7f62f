// The parts of a report as JSON, in the names of contract section 3: readers of one result, no arithmetic.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {

// The costs are absent where the scenario asks for none.
// `cost` is that of the steps, `run_cost` with interruptions.
Json WriteTraining(const TrainingReport& report, std::optional<Dollars> cost, std::optional<Dollars> run_cost);
Json WriteServing(const ServingReport& report, std::optional<DollarsPerToken> cost);
Json WriteCost(const CostReport& report);

// The figure shown at a path of the report and everything it rests on, inputs last; every figure for "*". Empty if no
// figure has that path.
Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path);

}  // namespace slipstick
