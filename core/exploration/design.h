// The best split of a designed device for one figure of a scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"
#include "core/scenario/scenario.h"
#include "core/technology/optimise.h"

namespace slipstick {

// Minimises a figure of the report ("training.step_time_s", "serving.tpot_s", "cost.device_usd") over the splits of
// scenario.cluster.device.design. Designs whose report is infeasible are not considered. Nothing where the scenario has
// no design, or no split makes a feasible report with that figure.
std::optional<Optimised> OptimiseDesign(const Scenario& scenario, std::string_view figure, const OptimiseOptions& options);

// A split for a request whose own makes no device on its node, memory and links: a start for OptimiseDesign. Nothing where the
// scenario has faults besides, or no split tried makes a device.
std::optional<Scenario> WithAnySplit(const Json& request);

// {"objective","start","evaluations","overrides": {path: share}} of the best split, or issues.
Answer DesignAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure);

}  // namespace slipstick
