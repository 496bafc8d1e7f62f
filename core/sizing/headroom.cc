#include "core/sizing/headroom.h"

namespace slipstick {

Headroom HeadroomOf(const SizingProblem& problem, const SizedDeployment& sized, double mean_requests_per_s) {
  constexpr int kDoublings = 30, kBisections = 24;
  ReplicaJudge judge(problem.scenario, problem.purchases, problem.targets);
  judge.Choose(sized.choice);
  Headroom headroom;
  headroom.needed_at_peak = sized.needed;
  headroom.needed_at_mean = judge.FewestReplicas(sized.bought, sized.needed, mean_requests_per_s);
  headroom.utilization_at_peak = judge.Judge(sized.bought, sized.working, problem.requests_per_s).utilization;
  headroom.utilization_at_mean = judge.Judge(sized.bought, sized.working, mean_requests_per_s).utilization;
  double holds = problem.requests_per_s, fails = 2 * holds;
  Verdict beyond = judge.Judge(sized.bought, sized.working, fails);
  for (int i = 0; i < kDoublings && beyond.holds(); ++i) {
    holds = fails;
    fails = 2 * holds;
    beyond = judge.Judge(sized.bought, sized.working, fails);
  }
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (holds + fails) / 2;
    const Verdict verdict = judge.Judge(sized.bought, sized.working, middle);
    (verdict.holds() ? holds : fails) = middle;
    if (!verdict.holds()) beyond = verdict;
  }
  headroom.requests_per_s = holds;
  headroom.breaks_first = beyond.failing;
  return headroom;
}

std::vector<PartOfDay> DayOf(const SizingProblem& problem, const SizedDeployment& sized, const SizeQuestion& question,
                             double mean_requests_per_s) {
  ReplicaJudge judge(problem.scenario, problem.purchases, problem.targets);
  judge.Choose(sized.choice);
  std::vector<PartOfDay> day;
  for (const double rate : RatesOf(question, mean_requests_per_s)) {
    const Count needed = rate > 0 ? judge.FewestReplicas(sized.bought, sized.needed, rate) : 0;
    const double utilization = rate > 0 ? judge.Judge(sized.bought, sized.working, rate).utilization : 0;
    day.push_back({rate, utilization, (needed + problem.spare_replicas) * sized.devices_per_replica});
  }
  return day;
}

}  // namespace slipstick
