#include "core/sizing/deployment_search.h"

#include <algorithm>
#include <utility>

namespace slipstick {
namespace {

constexpr Count kMostPerReplica = 256;

// Devices of one replica: parts of the innermost network level, and whole ones by powers of two.
std::vector<Count> ReplicaSizes(const Cluster& cluster, Count most) {
  const Count inner = cluster.networks.empty() ? 1 : cluster.networks.front().size;
  Count reach = 1;
  for (const NetworkLevel& level : cluster.networks) reach = std::min(kMostPerReplica, reach) * level.size;
  std::vector<Count> sizes = Divisors(inner);
  for (Count size = 2 * inner; size <= reach; size *= 2) sizes.push_back(size);
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [&](Count size) { return size > std::min(most, kMostPerReplica); }), sizes.end());
  return sizes;
}

// All kinds of replicas on any of these numbers of devices, as one indexed set.
class ReplicaSpace {
 public:
  explicit ReplicaSpace(const SizingProblem& problem) {
    SpaceLimits limits = problem.limits;
    limits["replicas"].high = 1;
    limits["prefill_devices"].high = 0;
    for (const Count size : ReplicaSizes(problem.scenario.cluster, problem.most_devices)) {
      ServingSpace space(problem.scenario.model, *problem.scenario.serving, size, limits);
      if (space.Size() == 0) continue;
      blocks_.push_back({size_, size, std::move(space)});
      size_ += blocks_.back().space.Size();
    }
  }
  [[nodiscard]] Count Size() const { return size_; }
  [[nodiscard]] std::pair<Count, ServingChoice> At(Count index) const {
    const auto after =
        std::upper_bound(blocks_.begin(), blocks_.end(), index, [](Count i, const Block& block) { return i < block.offset; });
    const Block& block = *(after - 1);
    return {block.devices, block.space.At(index - block.offset)};
  }

 private:
  struct Block {
    Count offset, devices;
    ServingSpace space;
  };
  std::vector<Block> blocks_;
  Count size_ = 0;
};

class ReplicaEvaluator {
 public:
  explicit ReplicaEvaluator(const SizingProblem& problem) : problem_(problem), space_(problem), judge_(problem.scenario, problem.targets) {}
  ReplicaEvaluator(const ReplicaEvaluator&) = delete;
  ReplicaEvaluator& operator=(const ReplicaEvaluator&) = delete;

  [[nodiscard]] Count Size() const { return space_.Size(); }
  [[nodiscard]] const std::optional<SizedDeployment>& cheapest() const { return cheapest_; }
  [[nodiscard]] const std::optional<NearMiss>& nearest() const { return nearest_; }

  // The objective is the number of devices bought; of equal numbers, the lowest load.
  Outcome Evaluate(Count index, const Search::IsDominated& is_dominated) {
    Outcome outcome;
    const auto [devices, choice] = space_.At(index);
    const Count allowed = MostReplicas(problem_.most_devices, devices);
    if (allowed < 1) {
      outcome.reason = "limit";
      return outcome;
    }
    const Count most = NotDominated(allowed, devices, is_dominated);
    if (most < 1) {
      outcome.feasible = outcome.pruned = true;
      return outcome;
    }
    judge_.Choose(choice);
    const Verdict at_most = judge_.Judge(most, problem_.requests_per_s);
    if (!at_most.holds()) {
      outcome.reason = at_most.failing;
      KeepNearest({choice, most, at_most});
      return outcome;
    }
    const SizedDeployment sized = Size(devices, choice, most);
    const Figures figures{static_cast<double>(sized.bought) + judge_.Judge(sized.working, problem_.requests_per_s).load / 2};
    if (!is_dominated(figures)) cheapest_ = sized;
    outcome.feasible = true;
    outcome.figures = figures;
    return outcome;
  }

 private:
  // Working replicas on a number of bought devices.
  [[nodiscard]] Count MostReplicas(Count bought, Count devices) const { return bought / devices - problem_.spare_replicas; }

  SizedDeployment Size(Count devices, const ServingChoice& choice, Count most) {
    SizedDeployment sized{choice, devices};
    sized.needed = judge_.FewestReplicas(most, problem_.requests_per_s);
    sized.bought = problem_.Bought(sized.needed, devices);
    sized.working = MostReplicas(sized.bought, devices);
    return sized;
  }

  // The most replicas, up to `allowed`, that can still be among the cheapest.
  [[nodiscard]] Count NotDominated(Count allowed, Count devices, const Search::IsDominated& is_dominated) const {
    Count low = 0, high = allowed + 1;
    while (high - low > 1) {
      const Count middle = low + (high - low) / 2;
      (is_dominated({static_cast<double>(problem_.Bought(middle, devices))}) ? high : low) = middle;
    }
    return low;
  }

  void KeepNearest(NearMiss miss) {
    if (miss.verdict.failing == "memory" || (nearest_ && nearest_->verdict.load <= miss.verdict.load)) return;
    nearest_ = std::move(miss);
  }

  const SizingProblem& problem_;
  ReplicaSpace space_;
  ReplicaJudge judge_;
  std::optional<SizedDeployment> cheapest_;
  std::optional<NearMiss> nearest_;
};

}  // namespace

SizingResult FindCheapest(const SizingProblem& problem) {
  ReplicaEvaluator evaluator(problem);
  SearchOptions options;
  options.to = evaluator.Size();
  options.top = 1;
  Search search(options,
                [&evaluator](Count index, const Search::IsDominated& is_dominated) { return evaluator.Evaluate(index, is_dominated); });
  search.Step(options.to);
  SizingResult result;
  result.progress = search.progress();
  result.kinds = evaluator.Size();
  result.cheapest = evaluator.cheapest();
  result.nearest = evaluator.nearest();
  return result;
}

}  // namespace slipstick
