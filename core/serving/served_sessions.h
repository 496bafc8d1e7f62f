// A load of sessions: how many turns run at once and how much of each prompt is still cached. Each depends on the
// other. Also the performance that the sessions see.
#pragma once

#include <functional>

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_memory.h"
#include "core/serving/serving_report.h"
#include "core/serving/session_cache.h"

namespace slipstick {

// State of an attention group at the settled load; numbers without nodes.
struct SettledSessions {
  double found = 1;    // turns that run or wait, over all replicas, as an arriving turn finds them; unused under a rate
  Hertz others;        // turns that other sessions send to a group; unused under a rate
  double running = 0;  // mean running turns of a group
  IdleContexts contexts;
};
// Other turns as a turn finds them: those in the system, and the rate at which other sessions send turns to its group.
struct OtherTurns {
  Ratio found = 1;
  Hertz arrivals;
};
using ServeTurns = std::function<ServingPerformance(const OtherTurns& turns)>;
// Sets the hit rate and the shares of the tiers in `load`, which must be the deployment's own.
SettledSessions SettleSessions(const Deployment& deployment, const KvCacheBudget& budget, const ServeTurns& serve,
                               ServingLoad& load);
// The hit rate at which sessions settle, and the shares of the tiers.
struct SettledHits {
  Ratio hit_rate, host_share, ssd_share;
};
// The settled figures with nodes, for explanations.
struct ExplainedSessions {
  ServedSessions served;
  OtherTurns turns;
  SettledHits hits;
};
ExplainedSessions ExplainSessions(const Deployment& deployment, const KvCacheBudget& budget,
                                  const SettledSessions& settled);
// Time to first token of the turns after the first.
Seconds ReentryTime(const Deployment& deployment, const ServingPerformance& performance);

}  // namespace slipstick
