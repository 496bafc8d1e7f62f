// A model on a cluster, the traffic that its deployment must serve, and what may be bought.
#pragma once

#include "core/scenario/scenario.h"
#include "core/search/limits.h"
#include "core/sizing/purchases.h"
#include "core/sizing/replica_judge.h"

namespace slipstick {

struct SizingProblem {
  const Scenario& scenario;  // its serving part has no mapping
  LatencyTargets targets;
  double requests_per_s = 1;
  Count spare_replicas = 0;
  Purchases purchases;
  SpaceLimits limits;
  // Number of replicas that fit on the devices, without the spare ones.
  [[nodiscard]] Count Working(Count bought, Count devices_per_replica) const {
    return bought / devices_per_replica - spare_replicas;
  }
};

}  // namespace slipstick
