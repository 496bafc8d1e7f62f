// Why a load is infeasible, and warnings about correct results that are easily misread.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_memory.h"
#include "core/serving/serving_report.h"

namespace slipstick {

// Sequences per attention group: how many fit, and how many the load requests.
struct BatchSize {
  Ratio max_sequences = 0, requested_sequences = 1;
};

// Whether requests that do not fit wait for a slot.
bool QueuesRequests(const Deployment& deployment);

// The reason why the KV cache or the memory makes the load infeasible; "" if it fits.
std::string_view MemoryReason(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch);

// Whether a replica has several devices without a link between them.
bool LacksLinks(const Deployment& deployment);

// Appends the reasons why the load is infeasible.
void FindInfeasible(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch,
                    const ServingPerformance& performance, ServingReport& report);

// Warns about the prefixes behind a hit rate: those of waiting sessions or, if none are kept, the memory they need.
void WarnOfPrefixes(const Deployment& deployment, const KvCacheBudget& budget, double running, ServingReport& report);

// Warns of results that are easily misread, if the load is feasible.
void FindWarnings(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report);

}  // namespace slipstick
