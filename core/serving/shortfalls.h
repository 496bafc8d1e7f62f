// Why a load is infeasible, and correct results that are easily misread.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_memory.h"
#include "core/serving/serving_report.h"

namespace slipstick {

// Sequences per attention group: those that fit, and those that the load requests.
struct BatchSize {
  Ratio max_sequences = 0, requested_sequences = 1;
};

// Whether requests that do not fit wait for those that do.
bool QueuesRequests(const Deployment& deployment);

// The reason for which the KV cache or the memory makes the load infeasible, "" if it fits.
std::string_view MemoryReason(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch);

// A replica of several devices that nothing joins.
bool LacksLinks(const Deployment& deployment);

// Appends the reasons for which the load is infeasible.
void FindInfeasible(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch,
                    const ServingPerformance& performance, ServingReport& report);

// Says which prefixes a hit rate rests on: those of waiting sessions, or, where nobody keeps any, what they would take.
void WarnOfPrefixes(const Deployment& deployment, const KvCacheBudget& budget, double running, ServingReport& report);

// Warns of results that are easily misread.
void FindWarnings(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report);

}  // namespace slipstick
