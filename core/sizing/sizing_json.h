// What the answers for one pool and for two share.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/mapping/parallelism.h"

namespace slipstick {

// Inputs that all deployments on one pool share: an open loop at the peak.
Json OverridesAtPeak(double requests_per_s);

Json MappingOf(const ServingMapping& mapping);
// Of a report's serving part. `utilization`: of one pool.
Json FiguresOf(const Json& serving, std::optional<double> utilization);

}  // namespace slipstick
