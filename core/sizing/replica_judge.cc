#include "core/sizing/replica_judge.h"

#include <algorithm>

#include "core/base/trace.h"

namespace slipstick {

Verdict VerdictOn(const ServingReport& report, double requests_per_s, const LatencyTargets& targets) {
  Verdict verdict{"", report.utilization, report.utilization, report.ttft, report.tpot};
  for (const Infeasibility& one : report.infeasible) {
    if (one.reason == "rate") continue;
    verdict.failing = "memory";
    verdict.load = 0;
    return verdict;
  }
  if (!report.infeasible.empty()) {
    verdict.failing = "rate";
    verdict.load = requests_per_s / report.requests_per_s;  // which is the capacity
    return verdict;
  }
  const auto compare = [&verdict](std::string_view name, Seconds latency, const std::optional<Seconds>& target) {
    if (!target || latency / *target <= verdict.load) return;
    verdict.load = latency / *target;
    if (verdict.load > 1) verdict.failing = name;
  };
  compare("ttft", report.ttft, targets.ttft);
  compare("tpot", report.tpot, targets.tpot);
  return verdict;
}

ReplicaJudge::ReplicaJudge(const Scenario& scenario, const Purchases& purchases, const LatencyTargets& targets)
    : model_(scenario.model), cluster_(scenario.cluster), purchases_(purchases), targets_(targets), load_(*scenario.serving) {}

void ReplicaJudge::Choose(const ServingChoice& choice) {
  load_.mapping = choice.mapping;
  load_.precision = choice.precision;
  load_.prefill_chunk = choice.prefill_chunk;
  devices_per_replica_ = choice.mapping.tp * choice.mapping.pp * choice.mapping.attention_dp;
}

Verdict ReplicaJudge::Judge(Count bought, Count replicas, double requests_per_s) {
  load_.requests_per_s = requests_per_s;
  load_.concurrency.reset();
  return VerdictOf(bought, replicas);
}

Verdict ReplicaJudge::JudgeUnloaded(Count bought) {
  load_.requests_per_s.reset();
  load_.concurrency = 1;
  return VerdictOf(bought, 1);
}

Verdict ReplicaJudge::VerdictOf(Count bought, Count replicas) {
  cluster_.devices = bought;
  load_.mapping.replicas = replicas;
  load_.devices = replicas * devices_per_replica_;
  Trace off = Trace::Off();
  ServingMemo& memo = memos_[purchases_.LinksOf(bought)];
  return VerdictOn(EvaluateServing(model_, cluster_, load_, false, off, &memo), load_.requests_per_s.value_or(0), targets_);
}

Count ReplicaJudge::FewestReplicas(Count bought, Count most, double requests_per_s) {
  Count too_few = 0, enough = most;
  while (enough - too_few > 1) {
    const Count middle = too_few + (enough - too_few) / 2;
    (Judge(bought, middle, requests_per_s).holds() ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace slipstick
