// The cheapest deployment with separate pools for prefill and decode that serves a rate within latency targets: tries
// every kind of replica for each pool, and every ratio of the pools.
#pragma once

#include <optional>
#include <string_view>

#include "core/sizing/deployment_search.h"
#include "core/sizing/fleet.h"

namespace slipstick {

struct SizedPools {
  ServingLoad load;            // with both pools, their working replicas and mappings
  Count prefill_replicas = 1;  // working replicas, without the spare ones
  Count decode_replicas = 1;
  PoolSizes bought;
  DollarsPerSecond cost;
  Verdict verdict;
};

struct PoolsResult {
  std::optional<SizedPools> cheapest;   // of equal costs, the one farthest from its limits
  std::string_view failing = "memory";  // if there is none: the target that the nearest deployment misses
};

// `problem.scenario` must serve on two pools; if the prefill pool has its own kind of device, it is stated there.
PoolsResult FindCheapestPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet);

// The fewest devices that meet the targets at the rate of `problem`, which is below the peak: working replicas of the
// kinds, and at most the numbers, of `sized`.
PoolSizes FewestOfPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet,
                        const SizedPools& sized);

}  // namespace slipstick
