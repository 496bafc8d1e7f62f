// Several classes of requests on separate pools for prefill and decode.
#pragma once

#include <vector>

#include "core/serving/serving_report.h"
#include "core/serving/traffic_classes.h"

namespace slipstick {

// Cycles in the decode pool: the time of a request in its slot.
Cycles DecodeCycles(const TrafficClasses& classes, double running);

// Classes served by both pools.
struct PooledService {
  Cycles cycles;                      // with the time before the decode pool in `alone`
  std::vector<PrefillTimes> prefill;  // by class
  double prefill_groups = 1;
};
// The load must have a rate. `slots`: of a decode group. Sets what the classes have in common in `performance`.
PooledService ServeOnPools(const TrafficClasses& classes, double slots, ServingPerformance& performance);

// Device time and energy of each pool, and of each class on them.
void SetUseOfPools(const TrafficClasses& classes, const PooledService& service, const ServingPerformance& performance,
                   ServingReport& report);

}  // namespace slipstick
