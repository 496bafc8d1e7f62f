// The cheapest deployment of a model on a cluster that serves a rate within latency targets: an exhaustive search over
// the kinds of replicas, with the smallest purchase for each kind. If purchases differ only in their number of
// replicas, the smallest is found by bisection, since more replicas never make a request slower.
#pragma once

#include <optional>

#include "core/search/search.h"
#include "core/search/serving_space.h"
#include "core/sizing/replica_judge.h"
#include "core/sizing/sizing_problem.h"

namespace slipstick {

// A deployment of replicas of one kind.
struct SizedDeployment {
  ServingChoice choice;  // of one replica
  Count devices_per_replica = 1;
  Count needed = 1;   // the fewest working replicas that meet the targets on this purchase
  Count working = 1;  // all replicas that fit on the bought devices, without the spare ones
  Count bought = 1;   // devices
};

// The deployment that is nearest to the targets without meeting them.
struct NearMiss {
  ServingChoice choice;
  Count replicas = 1;
  Verdict verdict;
};

struct SizingResult {
  std::optional<SizedDeployment> cheapest;  // of equal purchases, the deployment farthest from its limits
  std::optional<NearMiss> nearest;          // among those that fail
  SearchProgress progress;                  // counts the reasons why the others fail
  Count kinds = 0;                          // of replicas, evaluated
};
SizingResult FindCheapest(const SizingProblem& problem);

}  // namespace slipstick
