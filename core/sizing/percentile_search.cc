#include "core/sizing/percentile_search.h"

#include <algorithm>
#include <utility>

#include "core/sizing/first_of.h"

namespace slipstick {
namespace {

// The target for the mean: the percentile's target divided by the ratio of percentile to mean.
std::optional<Seconds> MeanTarget(const std::optional<Seconds>& target, Seconds mean, Seconds at_percentile) {
  if (!target || !(at_percentile > mean)) return target;
  return *target * (mean / at_percentile);
}

// A deployment with its simulated latencies.
struct Simulated {
  SizedDeployment sized;
  Verdict mean, at_percentile;
};

class PercentileSearch {
 public:
  PercentileSearch(const SizingProblem& problem, Percentile percentile)
      : problem_(problem), percentile_(percentile), judge_(problem.scenario, problem.purchases, problem.targets) {}

  PercentileResult Run() {
    constexpr int kKinds = 3;
    PercentileResult result;
    result.means = problem_.targets;
    result.found = FindCheapest(problem_);
    SizingProblem stricter = problem_;
    std::optional<SizedDeployment> next = result.found.cheapest;
    std::optional<Simulated> best, first;
    for (int kind = 0; kind < kKinds && next; ++kind) {
      const Count end = best ? PurchaseOf(best->sized.bought) : problem_.purchases.Size();
      if (PurchaseOf(next->bought) >= end) break;
      const Simulated found = Simulate(*next, PurchaseOf(next->bought));
      if (!first) first = found;
      if (std::optional<Simulated> enough = Enough(found, end)) best = std::move(enough);
      if (found.at_percentile.holds() || !Tighten(found, stricter.targets)) break;
      next = FindCheapest(stricter).cheapest;
    }
    if (best) {
      result.found.cheapest = Finish(*best, result.means);
      result.simulated = best->at_percentile;
    } else if (first) {
      result.found.cheapest.reset();
      result.found.nearest = NearMiss{first->sized.choice, first->sized.working, first->at_percentile};
      result.simulated = first->at_percentile;
    }
    return result;
  }

 private:
  [[nodiscard]] Count PurchaseOf(Count bought) const {
    const Purchases& purchases = problem_.purchases;
    return FirstOf(0, purchases.Size() - 1, [&](Count i) { return purchases.At(i) >= bought; });
  }

  Simulated Simulate(const SizedDeployment& kind, Count purchase) {
    Simulated simulated{kind, {}, {}};
    SizedDeployment& sized = simulated.sized;
    sized.bought = problem_.purchases.At(purchase);
    sized.working = problem_.Working(sized.bought, sized.devices_per_replica);
    judge_.Choose(sized.choice);
    simulated.mean = judge_.Judge(sized.bought, sized.working, problem_.requests_per_s);
    simulated.at_percentile = judge_.JudgeSimulated(sized.bought, sized.working, problem_.requests_per_s, percentile_);
    return simulated;
  }

  // The smallest larger number of replicas of this kind that meets the targets, among the purchases before `end`.
  std::optional<Simulated> Enough(const Simulated& least, Count end) {
    constexpr Count kMostTimes = 8;
    if (least.at_percentile.holds()) return least;
    const Count start = PurchaseOf(least.sized.bought);
    end = std::min(end, kMostTimes * (start + 1));
    std::optional<Simulated> enough;
    const auto holds = [&](Count purchase) {
      Simulated more = Simulate(least.sized, purchase);
      if (!more.at_percentile.holds()) return false;
      enough = std::move(more);
      return true;
    };
    Count low = start, high = start;
    for (Count step = 1; !enough && low + 1 < end; step *= 2) {
      high = std::min(low + step, end - 1);
      if (!holds(high)) low = high;
    }
    if (enough) FirstOf(low + 1, high, holds);  // the last one that holds is the first
    return enough;
  }

  // Tightens the targets of the next search; false if it would not require more than this one.
  [[nodiscard]] bool Tighten(const Simulated& failed, LatencyTargets& targets) const {
    const LatencyTargets means = MeansOf(failed);
    const auto tighten = [](std::optional<Seconds>& target, const std::optional<Seconds>& mean) {
      if (!target || !(*mean < *target)) return false;
      target = mean;
      return true;
    };
    const bool ttft = tighten(targets.ttft, means.ttft), tpot = tighten(targets.tpot, means.tpot);
    return ttft || tpot;
  }

  [[nodiscard]] LatencyTargets MeansOf(const Simulated& one) const {
    return {MeanTarget(problem_.targets.ttft, one.mean.ttft, one.at_percentile.ttft),
            MeanTarget(problem_.targets.tpot, one.mean.tpot, one.at_percentile.tpot)};
  }

  SizedDeployment Finish(const Simulated& best, LatencyTargets& means) const {
    means = MeansOf(best);
    ReplicaJudge judge(problem_.scenario, problem_.purchases, means);
    judge.Choose(best.sized.choice);
    SizedDeployment sized = best.sized;
    sized.needed = judge.FewestReplicas(sized.bought, sized.working, problem_.requests_per_s);
    return sized;
  }

  const SizingProblem& problem_;
  Percentile percentile_;
  ReplicaJudge judge_;
};

}  // namespace

PercentileResult FindCheapestAt(const SizingProblem& problem, Percentile percentile) {
  if (percentile == Percentile::kMean) return {FindCheapest(problem), std::nullopt, problem.targets};
  return PercentileSearch(problem, percentile).Run();
}

}  // namespace slipstick
