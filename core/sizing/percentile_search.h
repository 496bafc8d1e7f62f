// The cheapest deployment whose latencies hold at a percentile. A search with the closed forms, which give means, finds
// a candidate, and a simulation checks it. If it fails, more replicas are bought, or another kind of replica is
// searched with tighter targets for the mean, at which the failed candidate would have held the percentile.
#pragma once

#include <optional>

#include "core/sizing/deployment_search.h"
#include "core/sizing/question.h"

namespace slipstick {

struct PercentileResult {
  SizingResult found;
  // For a percentile, the simulated latencies of the cheapest deployment, or of the nearest one if none holds.
  std::optional<Verdict> simulated;
  LatencyTargets means;  // closed-form mean targets equivalent to the percentile's, on the cheapest deployment
};
PercentileResult FindCheapestAt(const SizingProblem& problem, Percentile percentile);

}  // namespace slipstick
