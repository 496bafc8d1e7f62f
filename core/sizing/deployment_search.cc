#include "core/sizing/deployment_search.h"

#include <algorithm>
#include <utility>

#include "core/sizing/first_of.h"
#include "core/sizing/replica_space.h"

namespace slipstick {
namespace {

class ReplicaEvaluator {
 public:
  explicit ReplicaEvaluator(const SizingProblem& problem)
      : problem_(problem), space_(problem), judge_(problem.scenario, problem.purchases, problem.targets) {}
  ReplicaEvaluator(const ReplicaEvaluator&) = delete;
  ReplicaEvaluator& operator=(const ReplicaEvaluator&) = delete;

  [[nodiscard]] Count Size() const { return space_.Size(); }
  [[nodiscard]] std::optional<SizedDeployment> Cheapest() {
    if (!cheapest_) return std::nullopt;
    judge_.Choose(cheapest_->choice);
    cheapest_->needed = judge_.FewestReplicas(cheapest_->bought, cheapest_->working, problem_.requests_per_s);
    return cheapest_;
  }
  [[nodiscard]] const std::optional<NearMiss>& nearest() const { return nearest_; }

  // The objective is the number of devices bought; among equal numbers, the deployment with the lowest load.
  Outcome Evaluate(Count index, const Search::IsDominated& is_dominated) {
    Outcome outcome;
    const auto [devices, choice] = space_.At(index);
    const Purchases& purchases = problem_.purchases;
    const Count replica = devices;  // no binding in a lambda
    const Count first =
        FirstOf(0, purchases.Size(), [&](Count i) { return problem_.Working(purchases.At(i), replica) >= 1; });
    Count end = FirstDominated(0, is_dominated);
    if (first >= end) {
      outcome.pruned = outcome.feasible = first < purchases.Size();
      outcome.reason = "limit";
      return outcome;
    }
    judge_.Choose(choice);
    // If all purchases have the same links, a single request has the same latency on each, a lower bound on the load.
    const bool same_links = first >= purchases.slices();
    if (same_links) last_ = judge_.JudgeUnloaded(purchases.At(first));
    if (same_links && last_.holds()) {
      end = FirstDominated(last_.load / 2, is_dominated);
      outcome.pruned = outcome.feasible = first >= end;
      if (outcome.pruned) return outcome;
    }
    const Count found = !same_links || last_.holds() ? SmallestPurchase(devices, first, end) : end;
    if (found == end) {
      outcome.reason = last_.failing;
      KeepNearest({choice, problem_.Working(purchases.At(end - 1), devices), last_});
      return outcome;
    }
    const Figures figures{static_cast<double>(purchases.At(found)) + holding_.load / 2};
    if (!is_dominated(figures)) {
      const Count bought = purchases.At(found);
      cheapest_ = SizedDeployment{choice, devices, 1, problem_.Working(bought, devices), bought};
    }
    outcome.feasible = true;
    outcome.figures = figures;
    return outcome;
  }

 private:
  // The first purchase whose objective, including at least `half_load` for its load, cannot win any more.
  [[nodiscard]] Count FirstDominated(double half_load, const Search::IsDominated& is_dominated) const {
    const Purchases& purchases = problem_.purchases;
    return FirstOf(0, purchases.Size(),
                   [&](Count i) { return is_dominated({static_cast<double>(purchases.At(i)) + half_load}); });
  }

  Verdict JudgeAt(Count purchase, Count devices) {
    const Count bought = problem_.purchases.At(purchase);
    last_ = judge_.Judge(bought, problem_.Working(bought, devices), problem_.requests_per_s);
    if (last_.holds()) holding_ = last_;
    return last_;
  }

  // The smallest purchase that holds, from `first` to `end` - 1; `end` if none does. Keeps its verdict, or the last
  // verdict if none holds.
  Count SmallestPurchase(Count devices, Count first, Count end) {
    Count low = first;
    for (; low < std::min(end, problem_.purchases.slices()); ++low) {
      last_ = judge_.JudgeUnloaded(problem_.purchases.At(low));
      if (last_.holds() && JudgeAt(low, devices).holds()) return low;
    }
    if (low == end || !JudgeAt(end - 1, devices).holds()) return end;
    return FirstOf(low, end - 1, [&](Count i) { return JudgeAt(i, devices).holds(); });
  }

  void KeepNearest(NearMiss miss) {
    if (miss.verdict.failing == "memory" || (nearest_ && nearest_->verdict.load <= miss.verdict.load)) return;
    nearest_ = std::move(miss);
  }

  const SizingProblem& problem_;
  ReplicaSpace space_;
  ReplicaJudge judge_;
  Verdict last_, holding_;  // the last verdict, and the last one that holds
  std::optional<SizedDeployment> cheapest_;
  std::optional<NearMiss> nearest_;
};

}  // namespace

SizingResult FindCheapest(const SizingProblem& problem) {
  ReplicaEvaluator evaluator(problem);
  SearchOptions options;
  options.to = evaluator.Size();
  options.top = 1;
  Search search(options, [&evaluator](Count index, const Search::IsDominated& is_dominated) {
    return evaluator.Evaluate(index, is_dominated);
  });
  search.Step(options.to);
  SizingResult result;
  result.progress = search.progress();
  result.kinds = evaluator.Size();
  result.cheapest = evaluator.Cheapest();
  result.nearest = evaluator.nearest();
  return result;
}

}  // namespace slipstick
