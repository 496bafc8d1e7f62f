// The best area, power and shoreline split of a chip design for one figure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"
#include "core/scenario/scenario.h"
#include "core/technology/optimise.h"

namespace slipstick {

// Finds the best value of a figure of the report ("training.step_time_s", "serving.tokens_per_s", "cost.device_usd")
// over the splits of scenario.cluster.device.design: the largest where larger is better, else the smallest. Infeasible
// designs are skipped. Nothing if the scenario has no design or no split gives a feasible report with that figure.
std::optional<Optimised> OptimiseDesign(const Scenario& scenario, std::string_view figure,
                                        const OptimiseOptions& options);

// A start for OptimiseDesign if the request's own split yields no device on its node, memory and links. Nothing if the
// scenario has other faults or no tried split yields a device.
std::optional<Scenario> WithAnySplit(const Json& request);

// {"objective","start","evaluations","overrides": {path: share}} of the best split, or issues.
Answer DesignAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure);

}  // namespace slipstick
