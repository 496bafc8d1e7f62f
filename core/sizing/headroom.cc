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

}  // namespace slipstick
