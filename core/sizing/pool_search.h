// The cheapest deployment that prefills on one pool of devices and decodes on another, which holds a rate within
// latency targets: every kind of replica for each pool, every ratio of the two.
#pragma once

#include <optional>
#include <string_view>

#include "core/sizing/deployment_search.h"
#include "core/sizing/fleet.h"

namespace slipstick {

struct SizedPools {
  ServingLoad load;            // with both pools, their working replicas and mappings
  Count prefill_replicas = 1;  // that work; the spare ones come on top
  Count decode_replicas = 1;
  PoolSizes bought;
  DollarsPerSecond cost;
  Verdict verdict;
};

struct PoolsResult {
  std::optional<SizedPools> cheapest;   // of equal costs, the one furthest from its limits
  std::string_view failing = "memory";  // without one: what the deployment nearest to the targets fails
};

// `problem.scenario` serves on two pools: a device that the prefill pool has of its own stands there.
PoolsResult FindCheapestPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet);

}  // namespace slipstick
