// A load of sessions: how many of their turns run at once and what of each prompt is still cached, each resting on the
// other, and what the sessions see.
#pragma once

#include <functional>

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_memory.h"
#include "core/serving/serving_report.h"
#include "core/serving/session_cache.h"

namespace slipstick {

// Requests of an attention group at the settled load; numbers without nodes.
struct SettledSessions {
  double found = 1;    // turns that run or wait, of all replicas, as one of them finds them; unused under a rate
  Hertz others;        // turns of the other sessions at a group; unused under a rate
  double running = 0;  // turns of a group that run, mean
  IdleContexts contexts;
};
// Turns as one of them finds them: in the system, and those that other sessions send to its group.
struct OtherTurns {
  Ratio found = 1;
  Hertz arrivals;
};
using ServeTurns = std::function<ServingPerformance(const OtherTurns& turns)>;
// Sets the hit rate and the shares of the tiers in `load`, the deployment's own.
SettledSessions SettleSessions(const Deployment& deployment, const KvCacheBudget& budget, const ServeTurns& serve,
                               ServingLoad& load);
// What the settled load rests on, where numbers have nodes.
struct ExplainedSessions {
  ServedSessions served;
  OtherTurns turns;
  Ratio hit_rate = 0, host_share = 0, ssd_share = 0;  // of the load
};
ExplainedSessions ExplainSessions(const Deployment& deployment, const KvCacheBudget& budget,
                                  const SettledSessions& settled);
// The first token of turns after the first.
Seconds ReentryTime(const Deployment& deployment, const ServingPerformance& performance);

}  // namespace slipstick
