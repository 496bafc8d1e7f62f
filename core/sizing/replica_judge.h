// Whether replicas of one kind serve a rate within latency targets, by the closed forms of an open loop or by
// simulation.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine_step/memo.h"
#include "core/scenario/scenario.h"
#include "core/search/serving_space.h"
#include "core/serving/serving.h"
#include "core/simulation/simulate.h"
#include "core/sizing/purchases.h"
#include "core/sizing/question.h"

namespace slipstick {

struct LatencyTargets {
  std::optional<Seconds> ttft, tpot;
};

struct Verdict {
  std::string_view failing;  // "": holds; otherwise "memory", "rate", "ttft" or "tpot"
  double utilization = 0;    // arrivals over capacity
  double load = 0;  // the largest of utilization, TTFT and TPOT relative to their limits; 0 if one request does not fit
  Seconds ttft, tpot;
  double in_flight = 0;  // requests
  Count simulated_requests = 0;
  std::vector<SimulatedClass> simulated_classes;  // of a mixture
  [[nodiscard]] bool holds() const { return failing.empty(); }
};
Verdict VerdictOn(const ServingReport& report, double requests_per_s, const LatencyTargets& targets);

inline constexpr Count kSimulatedReplicas = 4;

class ReplicaJudge {
 public:
  // Scenario and purchases must outlive the judge.
  ReplicaJudge(const Scenario& scenario, const Purchases& purchases, const LatencyTargets& targets);
  // `choice` must have one replica.
  void Choose(const ServingChoice& choice);
  // Judges replicas on a cluster of `bought` devices.
  [[nodiscard]] Verdict Judge(Count bought, Count replicas, double requests_per_s);
  // As Judge, with the latencies at a percentile. They are simulated on at most kSimulatedReplicas replicas with their
  // share of the rate; a router balances more replicas better than few. Deployments that fail by the closed forms are
  // not simulated.
  [[nodiscard]] Verdict JudgeSimulated(Count bought, Count replicas, double requests_per_s, Percentile percentile);
  // Latency of a single request: the lower bound under any load.
  [[nodiscard]] Verdict JudgeUnloaded(Count bought);
  // The smallest number of replicas, up to `most`, that meets the targets, given that `most` does.
  [[nodiscard]] Count FewestReplicas(Count bought, Count most, double requests_per_s);

 private:
  Verdict VerdictOf(Count bought, Count replicas);

  const Model& model_;
  Cluster cluster_;
  const Purchases& purchases_;
  LatencyTargets targets_;
  ServingLoad load_;
  Count devices_per_replica_ = 1;
  std::map<Count, ServingMemo> memos_;  // by links (Purchases::LinksOf)
};

}  // namespace slipstick
