// Parts of the answers for one pool and for two.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/mapping/parallelism.h"

namespace slipstick {

// Inputs that all deployments on one pool have in common: an open loop at the peak.
Json OverridesAtPeak(double requests_per_s);

Json MappingOf(const ServingMapping& mapping);
// Figures from a report's serving part. `utilization`: of a single pool.
Json FiguresOf(const Json& serving, std::optional<double> utilization);

}  // namespace slipstick
