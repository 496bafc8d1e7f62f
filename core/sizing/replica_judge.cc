#include "core/sizing/replica_judge.h"

#include <algorithm>

#include "core/sizing/first_of.h"

namespace slipstick {
namespace {

void Compare(Verdict& verdict, const LatencyTargets& targets) {
  const auto compare = [&verdict](std::string_view name, Seconds latency, const std::optional<Seconds>& target) {
    if (!target || latency / *target <= verdict.load) return;
    verdict.load = latency / *target;
    if (verdict.load > 1) verdict.failing = name;
  };
  compare("ttft", verdict.ttft, targets.ttft);
  compare("tpot", verdict.tpot, targets.tpot);
}

// Number of requests to simulate for a steady state and enough samples in the tail.
Count SimulatedRequests(double in_flight) {
  constexpr double kRounds = 6;
  constexpr Count kFewest = 1000, kMost = 10'000;
  return std::clamp(static_cast<Count>(kRounds * in_flight), kFewest, kMost);
}

}  // namespace

Verdict VerdictOn(const ServingReport& report, double requests_per_s, const LatencyTargets& targets) {
  Verdict verdict{"", report.utilization, report.utilization, report.ttft, report.tpot, report.requests_in_flight, 0,
                  {}};
  for (const Infeasibility& one : report.infeasible) {
    if (one.reason == "rate") continue;
    verdict.failing = "memory";
    verdict.load = 0;
    return verdict;
  }
  if (!report.infeasible.empty()) {
    verdict.failing = "rate";
    verdict.load = requests_per_s / report.requests_per_s;  // the report's rate is the capacity
    return verdict;
  }
  Compare(verdict, targets);
  return verdict;
}

ReplicaJudge::ReplicaJudge(const Scenario& scenario, const Purchases& purchases, const LatencyTargets& targets)
    : model_(scenario.model),
      cluster_(scenario.cluster),
      purchases_(purchases),
      targets_(targets),
      load_(*scenario.serving) {}

void ReplicaJudge::Choose(const ServingChoice& choice) {
  load_.mapping = choice.mapping;
  load_.precision = choice.precision;
  load_.prefill_chunk = choice.prefill_chunk;
  devices_per_replica_ = DevicesPerReplica(choice.mapping);
}

Verdict ReplicaJudge::Judge(Count bought, Count replicas, double requests_per_s) {
  load_.requests_per_s = requests_per_s;
  load_.concurrency.reset();
  return VerdictOf(bought, replicas);
}

Verdict ReplicaJudge::JudgeSimulated(Count bought, Count replicas, double requests_per_s, Percentile percentile) {
  Verdict verdict = Judge(bought, replicas, requests_per_s);
  if (!verdict.holds()) return verdict;
  const Count simulated = std::min(replicas, kSimulatedReplicas);
  const double share = static_cast<double>(simulated) / static_cast<double>(replicas);
  ServingLoad load = load_;
  load.mapping.replicas = simulated;
  load.devices = simulated * devices_per_replica_;
  load.requests_per_s = requests_per_s * share;
  SimulationRun run = load.simulate.value_or(SimulationRun{});
  run.requests = SimulatedRequests(verdict.in_flight * share);
  load.simulate = run;
  const SimulationAnswer answer = Simulate(model_, cluster_, load);
  if (!answer.served) {
    verdict.failing = "simulation";
    return verdict;
  }
  verdict.simulated_requests = answer.served->requests;
  verdict.simulated_classes = answer.served->classes;
  verdict.ttft = At(percentile, answer.served->ttft_percentiles, answer.served->ttft);
  verdict.tpot = At(percentile, answer.served->tpot_percentiles, answer.served->tpot);
  Compare(verdict, targets_);
  return verdict;
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
  ServingMemo& memo = memos_[purchases_.LinksOf(bought)];
  return VerdictOn(EvaluateServing(model_, cluster_, load_, false, nullptr, &memo), load_.requests_per_s.value_or(0),
                   targets_);
}

Count ReplicaJudge::FewestReplicas(Count bought, Count most, double requests_per_s) {
  return FirstOf(1, most, [&](Count replicas) { return Judge(bought, replicas, requests_per_s).holds(); });
}

}  // namespace slipstick
