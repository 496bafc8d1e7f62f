#include "core/sizing/pool_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/sizing/first_of.h"
#include "core/sizing/replica_space.h"

namespace slipstick {
namespace {

constexpr Count kMostReplicas = 1 << 14;  // per pool

struct Replica {
  ServingChoice choice;
  Count devices = 1;
};
// A kind of replica, and the fewest replicas that such a pool needs beside any other pool.
struct Pool {
  Replica replica;
  Count fewest = 1;
  [[nodiscard]] Count Devices() const { return fewest * replica.devices; }
};

// The first count from 1 to `most` at which a monotonic condition holds. It must hold at `most`; most results are
// small.
template <class Condition>
Count Fewest(Count most, const Condition& holds) {
  Count too_few = 0, enough = 1;
  while (enough < most && !holds(enough)) too_few = enough, enough = std::min(2 * enough, most);
  return FirstOf(too_few + 1, enough, holds);
}

class PoolSearch {
 public:
  PoolSearch(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet)
      : problem_(problem), question_(question), fleet_(fleet), cluster_(problem.scenario.cluster) {}

  PoolsResult Run() {
    std::vector<Replica> replicas = Replicas();
    while (!replicas.empty()) {
      const ServingPrecision formats = replicas.front().choice.precision;
      const auto others = std::stable_partition(replicas.begin(), replicas.end(), [&formats](const Replica& replica) {
        return replica.choice.precision == formats;
      });
      TryPairs({replicas.begin(), others});
      replicas.erase(replicas.begin(), others);
    }
    return result_;
  }

  PoolSizes FewestOf(const SizedPools& sized) {
    const Disaggregated& pools = *sized.load.disaggregated;
    const auto kind = [&](ServingMapping mapping, Count devices, Count replicas) {
      mapping.replicas = 1;
      return Replica{{mapping, 1, sized.load.precision, sized.load.prefill_chunk, {}}, devices / replicas};
    };
    const Replica prefiller = kind(*pools.prefill_mapping, pools.prefill_devices, sized.prefill_replicas),
                  decoder = kind(sized.load.mapping, pools.decode_devices, sized.decode_replicas);
    PoolSizes fewest{pools.prefill_devices, pools.decode_devices};
    const auto devices_of = [&](Count prefillers, Count decoders) {
      return PoolSizes{prefillers * prefiller.devices, decoders * decoder.devices};
    };
    TryNumbers(
        prefiller, decoder, {sized.prefill_replicas, sized.decode_replicas},
        [&](Count prefillers, Count decoders) {
          return decoders <= sized.decode_replicas && devices_of(prefillers, decoders).Total() < fewest.Total();
        },
        [&](Count prefillers, Count decoders) {
          const PoolSizes needed = devices_of(prefillers, decoders);
          if (needed.Total() < fewest.Total()) fewest = needed;
        });
    return fewest;
  }

 private:
  // Tries pairs of replicas that compute in the same formats.
  void TryPairs(const std::vector<Replica>& replicas) {
    const std::vector<Pool> decoders = Decoders(replicas);
    if (decoders.empty()) return;
    const std::vector<Pool> prefillers = Prefillers(replicas, decoders.front().replica);
    for (const Pool& decoder : decoders) {
      for (const Pool& prefiller : prefillers) {
        if (!CanImprove(prefiller.replica, prefiller.fewest, decoder.replica, decoder.fewest)) break;
        TryPair(prefiller, decoder);
      }
    }
  }

  // All kinds of replicas but those that differ only in prefill chunks, which make no difference in separate pools.
  [[nodiscard]] std::vector<Replica> Replicas() const {
    const ReplicaSpace space(problem_);
    std::vector<Replica> replicas;
    for (Count i = 0; i < space.Size(); ++i) {
      const auto [devices, choice] = space.At(i);
      if (choice.prefill_chunk == problem_.scenario.serving->prefill_chunk) replicas.push_back({choice, devices});
    }
    return replicas;
  }

  // Replicas that meet the rate and the time per token next to a prefill pool without queues.
  std::vector<Pool> Decoders(const std::vector<Replica>& replicas) {
    return Pools(replicas, [this](const Replica& replica, Count count) {
      return Judge(replica, kMostReplicas, replica, count, {std::nullopt, problem_.targets.tpot}).holds();
    });
  }
  // Replicas that meet the rate.
  std::vector<Pool> Prefillers(const std::vector<Replica>& replicas, const Replica& decoder) {
    return Pools(replicas, [this, &decoder](const Replica& replica, Count count) {
      return Judge(replica, count, decoder, kMostReplicas, {}).holds();
    });
  }
  // Sorted by size, smallest first.
  template <class Holds>
  static std::vector<Pool> Pools(const std::vector<Replica>& replicas, const Holds& holds) {
    std::vector<Pool> pools;
    for (const Replica& replica : replicas) {
      if (!holds(replica, kMostReplicas)) continue;
      pools.push_back({replica, Fewest(kMostReplicas, [&](Count count) { return holds(replica, count); })});
    }
    std::stable_sort(pools.begin(), pools.end(),
                     [](const Pool& a, const Pool& b) { return a.Devices() < b.Devices(); });
    return pools;
  }

  void TryPair(const Pool& prefill, const Pool& decode) {
    const Replica &prefiller = prefill.replica, &decoder = decode.replica;
    if (const Verdict verdict = Judge(prefiller, kMostReplicas, decoder, kMostReplicas, problem_.targets);
        !verdict.holds())
      return KeepFailing(verdict);
    TryNumbers(
        prefiller, decoder, {kMostReplicas, kMostReplicas},
        [&](Count prefillers, Count decoders) { return CanImprove(prefiller, prefillers, decoder, decoders); },
        [&](Count prefillers, Count decoders) { Keep(prefiller, prefillers, decoder, decoders); });
  }

  struct Numbers {
    Count prefillers, decoders;
  };
  // Visits numbers of decode replicas in ascending order, each with the fewest prefill replicas that it needs, until
  // the least number of prefill replicas suffices: more decode replicas shorten the wait for a slot, so fewer prefill
  // replicas may be needed. `most` of both must hold.
  template <class MayHelp, class Visit>
  void TryNumbers(const Replica& prefiller, const Replica& decoder, const Numbers& most, const MayHelp& may_help,
                  const Visit& visit) {
    const auto holds = [&](Count prefillers, Count decoders) {
      return Judge(prefiller, prefillers, decoder, decoders, problem_.targets).holds();
    };
    const Count least = Fewest(most.prefillers, [&](Count count) { return holds(count, most.decoders); });
    Count decoders = Fewest(most.decoders, [&](Count count) { return holds(most.prefillers, count); });
    for (; may_help(least, decoders); ++decoders) {
      const Count prefillers = Fewest(most.prefillers, [&](Count count) { return holds(count, decoders); });
      visit(prefillers, decoders);
      if (prefillers == least) return;
    }
  }

  [[nodiscard]] PoolSizes BoughtFor(const Replica& prefiller, Count prefillers, const Replica& decoder,
                                    Count decoders) const {
    const Count spare = problem_.spare_replicas;
    return fleet_.Bought({(prefillers + spare) * prefiller.devices, (decoders + spare) * decoder.devices});
  }

  [[nodiscard]] bool CanImprove(const Replica& prefiller, Count prefillers, const Replica& decoder, Count decoders) {
    const std::optional<DollarsPerSecond>& cost = CostOf(BoughtFor(prefiller, prefillers, decoder, decoders));
    return cost && (!result_.cheapest || *cost <= result_.cheapest->cost);
  }

  // Cost per hour; nothing if the question's limits do not allow it. Thousands of pairs lead to a few purchases.
  const std::optional<DollarsPerSecond>& CostOf(const PoolSizes& bought) {
    const auto [known, is_new] = costs_.try_emplace({bought.prefill, bought.decode});
    if (is_new && fleet_.Allows(question_, bought)) known->second = fleet_.HourlyCostOf(bought);
    return known->second;
  }

  void Keep(const Replica& prefiller, Count prefillers, const Replica& decoder, Count decoders) {
    if (!CanImprove(prefiller, prefillers, decoder, decoders)) return;
    const PoolSizes bought = BoughtFor(prefiller, prefillers, decoder, decoders);
    const Verdict verdict = Judge(prefiller, prefillers, decoder, decoders, problem_.targets);
    const DollarsPerSecond cost = *CostOf(bought);
    const std::optional<SizedPools>& best = result_.cheapest;
    if (best && !(cost < best->cost) && verdict.load >= best->verdict.load) return;
    result_.cheapest = SizedPools{load_, prefillers, decoders, bought, cost, verdict};
  }

  void KeepFailing(const Verdict& verdict) {
    if (verdict.failing == "memory" || (nearest_ > 0 && verdict.load >= nearest_)) return;
    nearest_ = verdict.load;
    result_.failing = verdict.failing;
  }

  Verdict Judge(const Replica& prefiller, Count prefillers, const Replica& decoder, Count decoders,
                const LatencyTargets& targets) {
    load_ = *problem_.scenario.serving;
    load_.precision = decoder.choice.precision;
    load_.mapping = decoder.choice.mapping;
    load_.mapping.replicas = decoders;
    Disaggregated& pools = *load_.disaggregated;
    pools.prefill_mapping = prefiller.choice.mapping;
    pools.prefill_mapping->replicas = prefillers;
    pools.prefill_devices = prefillers * prefiller.devices;
    pools.decode_devices = decoders * decoder.devices;
    load_.devices = pools.prefill_devices + pools.decode_devices;
    load_.requests_per_s = problem_.requests_per_s;
    load_.concurrency.reset();
    cluster_.devices = *load_.devices;
    return VerdictOn(EvaluateServing(problem_.scenario.model, cluster_, load_, false, nullptr, &memo_),
                     problem_.requests_per_s, targets);
  }

  const SizingProblem& problem_;
  const SizeQuestion& question_;
  const Fleet& fleet_;
  Cluster cluster_;
  ServingLoad load_;  // the last load that was judged
  ServingMemo memo_;
  std::map<std::pair<Count, Count>, std::optional<DollarsPerSecond>> costs_;  // by devices to prefill and to decode
  PoolsResult result_;
  double nearest_ = 0;  // load of the best deployment that fails
};

}  // namespace

PoolsResult FindCheapestPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet) {
  return PoolSearch(problem, question, fleet).Run();
}

PoolSizes FewestOfPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet,
                        const SizedPools& sized) {
  return PoolSearch(problem, question, fleet).FewestOf(sized);
}

}  // namespace slipstick
