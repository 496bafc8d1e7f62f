// The cheapest deployment whose latencies hold at a percentile: found by the closed forms, which give means, and
// simulated; what fails is bought more of, or another kind of replica is found with the means that hold the percentile
// on the one that failed.
#pragma once

#include <optional>

#include "core/sizing/deployment_search.h"
#include "core/sizing/question.h"

namespace slipstick {

struct PercentileResult {
  SizingResult found;
  // For a percentile, the simulated latencies of the cheapest deployment, or of the nearest one if none holds.
  std::optional<Verdict> simulated;
  LatencyTargets means;  // closed-form targets that stand for those at the percentile, on the cheapest deployment
};
PercentileResult FindCheapestAt(const SizingProblem& problem, Percentile percentile);

}  // namespace slipstick
