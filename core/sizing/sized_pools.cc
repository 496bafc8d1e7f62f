#include "core/sizing/sized_pools.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/search_job.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/sizing/first_of.h"
#include "core/sizing/fleet.h"
#include "core/sizing/mixture.h"
#include "core/sizing/replica_space.h"
#include "core/sizing/sizing_json.h"

namespace slipstick {
namespace {

struct SizedPools {
  ServingLoad load;            // with both pools, their working replicas and mappings
  Count prefill_replicas = 1;  // working replicas, without the spare ones
  Count decode_replicas = 1;
  PoolSizes bought;
  DollarsPerSecond cost;
  Verdict verdict;
};

struct PoolsResult {
  std::optional<SizedPools> cheapest;   // of equal costs, the one farthest from its limits
  std::string_view failing = "memory";  // if there is none: the target that the nearest deployment misses
};

constexpr Count kMostReplicas = 1 << 14;  // per pool

struct Replica {
  ServingChoice choice;
  Count devices = 1;
};
// Replicas of one kind that all prefill, or all decode.
struct Pool {
  const Replica* kind;
  Count replicas = 1;
  [[nodiscard]] Count Devices() const { return replicas * kind->devices; }
  [[nodiscard]] Pool With(Count number) const { return {kind, number}; }
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
    const auto total_of = [](const Pool& prefill, const Pool& decode) { return prefill.Devices() + decode.Devices(); };
    TryNumbers(
        {&prefiller, sized.prefill_replicas}, {&decoder, sized.decode_replicas},
        [&](const Pool& prefill, const Pool& decode) {
          return decode.replicas <= sized.decode_replicas && total_of(prefill, decode) < fewest.Total();
        },
        [&](const Pool& prefill, const Pool& decode) {
          if (total_of(prefill, decode) < fewest.Total()) fewest = {prefill.Devices(), decode.Devices()};
        });
    return fewest;
  }

 private:
  // Tries pairs of replicas that compute in the same formats.
  void TryPairs(const std::vector<Replica>& replicas) {
    const std::vector<Pool> decoders = Decoders(replicas);
    if (decoders.empty()) return;
    const std::vector<Pool> prefillers = Prefillers(replicas, *decoders.front().kind);
    for (const Pool& decoder : decoders) {
      for (const Pool& prefiller : prefillers) {
        if (!CanImprove(prefiller, decoder)) break;
        TryPair(prefiller.With(kMostReplicas), decoder.With(kMostReplicas));
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
    return Pools(replicas, [this](const Pool& pool) {
      return Judge(pool.With(kMostReplicas), pool, {std::nullopt, problem_.targets.tpot}).holds();
    });
  }
  // Replicas that meet the rate.
  std::vector<Pool> Prefillers(const std::vector<Replica>& replicas, const Replica& decoder) {
    return Pools(replicas,
                 [this, &decoder](const Pool& pool) { return Judge(pool, {&decoder, kMostReplicas}, {}).holds(); });
  }
  // The fewest replicas of each kind that a pool needs beside any other pool, the smallest pool first.
  template <class Holds>
  static std::vector<Pool> Pools(const std::vector<Replica>& replicas, const Holds& holds) {
    std::vector<Pool> pools;
    for (const Replica& replica : replicas) {
      const Pool most{&replica, kMostReplicas};
      if (!holds(most)) continue;
      pools.push_back(most.With(Fewest(kMostReplicas, [&](Count count) { return holds(most.With(count)); })));
    }
    std::stable_sort(pools.begin(), pools.end(),
                     [](const Pool& a, const Pool& b) { return a.Devices() < b.Devices(); });
    return pools;
  }

  void TryPair(const Pool& most_prefill, const Pool& most_decode) {
    if (const Verdict verdict = Judge(most_prefill, most_decode, problem_.targets); !verdict.holds())
      return KeepFailing(verdict);
    TryNumbers(
        most_prefill, most_decode, [&](const Pool& prefill, const Pool& decode) { return CanImprove(prefill, decode); },
        [&](const Pool& prefill, const Pool& decode) { Keep(prefill, decode); });
  }

  // Visits numbers of decode replicas in ascending order, each with the fewest prefill replicas that it needs, until
  // the least number of prefill replicas suffices: more decode replicas shorten the wait for a slot, so fewer prefill
  // replicas may be needed. With the most of both, the targets must be met.
  template <class MayHelp, class Visit>
  void TryNumbers(const Pool& most_prefill, const Pool& most_decode, const MayHelp& may_help, const Visit& visit) {
    const auto fewest_prefill = [&](const Pool& decode) {
      return most_prefill.With(Fewest(most_prefill.replicas, [&](Count count) {
        return Judge(most_prefill.With(count), decode, problem_.targets).holds();
      }));
    };
    const Pool least = fewest_prefill(most_decode);
    Pool decode = most_decode.With(Fewest(most_decode.replicas, [&](Count count) {
      return Judge(most_prefill, most_decode.With(count), problem_.targets).holds();
    }));
    for (; may_help(least, decode); ++decode.replicas) {
      const Pool prefill = fewest_prefill(decode);
      visit(prefill, decode);
      if (prefill.replicas == least.replicas) return;
    }
  }

  [[nodiscard]] PoolSizes BoughtFor(const Pool& prefill, const Pool& decode) const {
    const Count spare = problem_.spare_replicas;
    return fleet_.Bought(
        {prefill.With(prefill.replicas + spare).Devices(), decode.With(decode.replicas + spare).Devices()});
  }

  [[nodiscard]] bool CanImprove(const Pool& prefill, const Pool& decode) {
    const std::optional<DollarsPerSecond>& cost = CostOf(BoughtFor(prefill, decode));
    return cost && (!result_.cheapest || *cost <= result_.cheapest->cost);
  }

  // Cost per hour; nothing if the question's limits do not allow it. Thousands of pairs lead to a few purchases.
  const std::optional<DollarsPerSecond>& CostOf(const PoolSizes& bought) {
    const auto [known, is_new] = costs_.try_emplace({bought.prefill, bought.decode});
    if (is_new && fleet_.Allows(question_, bought)) known->second = fleet_.HourlyCostOf(bought);
    return known->second;
  }

  void Keep(const Pool& prefill, const Pool& decode) {
    if (!CanImprove(prefill, decode)) return;
    const PoolSizes bought = BoughtFor(prefill, decode);
    const Verdict verdict = Judge(prefill, decode, problem_.targets);
    const DollarsPerSecond cost = *CostOf(bought);
    const std::optional<SizedPools>& best = result_.cheapest;
    if (best && !(cost < best->cost) && verdict.load >= best->verdict.load) return;
    result_.cheapest = SizedPools{load_, prefill.replicas, decode.replicas, bought, cost, verdict};
  }

  void KeepFailing(const Verdict& verdict) {
    if (verdict.failing == "memory" || (nearest_ > 0 && verdict.load >= nearest_)) return;
    nearest_ = verdict.load;
    result_.failing = verdict.failing;
  }

  Verdict Judge(const Pool& prefill, const Pool& decode, const LatencyTargets& targets) {
    load_ = *problem_.scenario.serving;
    load_.precision = decode.kind->choice.precision;
    load_.mapping = decode.kind->choice.mapping;
    load_.mapping.replicas = decode.replicas;
    Disaggregated& pools = *load_.disaggregated;
    pools.prefill_mapping = prefill.kind->choice.mapping;
    pools.prefill_mapping->replicas = prefill.replicas;
    pools.prefill_devices = prefill.Devices();
    pools.decode_devices = decode.Devices();
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

// `problem.scenario` must serve on two pools; if the prefill pool has its own kind of device, it is stated there.
PoolsResult FindCheapestPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet) {
  return PoolSearch(problem, question, fleet).Run();
}

// The fewest devices that meet the targets at the rate of `problem`, which is below the peak: working replicas of the
// kinds, and at most the numbers, of `sized`.
PoolSizes FewestOfPools(const SizingProblem& problem, const SizeQuestion& question, const Fleet& fleet,
                        const SizedPools& sized) {
  return PoolSearch(problem, question, fleet).FewestOf(sized);
}

Json OverridesOnPools(double requests_per_s) {
  Json overrides = OverridesAtPeak(requests_per_s);
  overrides.erase("serving.disaggregated");
  return overrides;
}

// The scenario with two pools: the request's own pools if it has any, because they state their devices.
Result<Scenario> OnPools(const Json& request, const SizingProblem& problem) {
  const Json* written = MemberAt(request, "serving.disaggregated");
  Json overrides = OverridesOnPools(problem.requests_per_s);
  if (written != nullptr && !written->is_null()) {
    const Disaggregated standard;
    const auto devices = [written](const char* member, Count by_default) {
      return static_cast<Count>(NumberAt(*written, member).value_or(static_cast<double>(by_default)));
    };
    overrides["cluster.devices"] =
        std::max<Count>(problem.scenario.cluster.devices, devices("prefill_devices", standard.prefill_devices) +
                                                              devices("decode_devices", standard.decode_devices));
  }
  Result<Scenario> pooled = ParseForSearch(WithOverrides(request, overrides), "serving");
  if (!pooled) return pooled;
  if (!pooled->serving->disaggregated) pooled->serving->disaggregated.emplace();
  pooled->serving->mixture = problem.scenario.serving->mixture;
  return pooled;
}

Json DeploymentOf(const SizedPools& sized, const Fleet& fleet) {
  const Disaggregated* const kinds = PoolsOfTwoKinds(sized.load);
  return ObjectOf({{"devices", sized.bought.Total()},
                   {"prefill_devices", sized.load.disaggregated->prefill_devices},
                   {"prefill_device", kinds != nullptr ? Json(kinds->prefill_device->name) : Json(nullptr)},
                   {"decode_devices", sized.load.disaggregated->decode_devices},
                   {"prefill_replicas", sized.prefill_replicas},
                   {"decode_replicas", sized.decode_replicas},
                   {"power_w", fleet.FacilityPowerOf(sized.bought).base()},
                   {"prefill_mapping", MappingOf(*sized.load.disaggregated->prefill_mapping)},
                   {"mapping", MappingOf(sized.load.mapping)}});
}

Json OverridesOfPools(const SizedPools& sized) {
  const ServingLoad& load = sized.load;
  Json overrides = OverridesOnPools(*load.requests_per_s);
  overrides.update(OverridesOf({load.mapping, 1, load.precision, load.prefill_chunk, load.disaggregated}));
  overrides.erase("serving.batch");  // belongs to a closed loop
  overrides["cluster.devices"] = sized.bought.Total();
  overrides["serving.prompt"] = load.prompt;
  overrides["serving.output"] = load.output;
  return overrides;
}

// Devices of a pool that the targets do not need in a part of the day are idle. Spare replicas count as needed.
Json DayAnswer(SizingProblem problem, const SizeQuestion& question, const Fleet& fleet, const SizedPools& sized) {
  if (question.day.empty()) return nullptr;
  const Disaggregated& pools = *sized.load.disaggregated;
  const PoolSizes spare{problem.spare_replicas * pools.prefill_devices / sized.prefill_replicas,
                        problem.spare_replicas * pools.decode_devices / sized.decode_replicas};
  const ByPass<DollarsPerSecond> costs = fleet.HourlyCosts(sized.bought);
  const double parts_of_day = static_cast<double>(question.day.size());
  Json parts = Json::array();
  ByPass<double> mean{0, 0};  // devices needed
  for (const double rate : RatesOf(question, problem.requests_per_s / PeakOverMean(question))) {
    problem.requests_per_s = rate;
    PoolSizes needed = rate > 0 ? FewestOfPools(problem, question, fleet, sized) : PoolSizes{};
    needed.prefill += spare.prefill, needed.decode += spare.decode;
    mean.prefill += static_cast<double>(needed.prefill) / parts_of_day;
    mean.decode += static_cast<double>(needed.decode) / parts_of_day;
    parts.push_back(ObjectOf({{"requests_per_s", rate},
                              {"needed_prefill_devices", needed.prefill},
                              {"needed_decode_devices", needed.decode}}));
  }
  const auto idle = [](double needed, Count bought) { return 1 - needed / static_cast<double>(bought); };
  return ObjectOf({{"parts", std::move(parts)},
                   {"needed_devices", mean.prefill + mean.decode},
                   {"idle_share", idle(mean.prefill + mean.decode, sized.bought.Total())},
                   {"idle_usd_per_hour", In(idle(mean.prefill, sized.bought.prefill) * costs.prefill +
                                                idle(mean.decode, sized.bought.decode) * costs.decode,
                                            kUsdPerHour)}});
}

// What a single pool pays for and two pools do not.
Json RemarksOn(const ServingLoad& on_one, const ServingLoad& on_two) {
  const double idle = on_one.idle_sessions.value_or(0);
  if (!(on_one.prefix_hit > 0 && idle > on_two.idle_sessions.value_or(0))) return Json::array();
  return Json{"Two pools keep no prefixes of waiting sessions, one pool keeps " + NumberText(idle) +
              " per running request; serving.idle_sessions=0 compares them without"};
}

Json Fails(std::string_view reason, const std::string& message) {
  return ObjectOf({{"holds", false}, {"reason", std::string(reason)}, {"message", message}});
}

}  // namespace

Json SizeOnTwoPools(const Json& request, const SizeQuestion& question, const SizingProblem& problem,
                    const Json& on_one) {
  if (question.percentile != Percentile::kMean)
    return Fails("percentile", "Two pools are compared for mean requests only: they are not simulated");
  if (problem.scenario.serving->sessions) return Fails("sessions", "Sessions are served on one pool");
  if (problem.purchases.slices() > 0)
    return Fails("topology", "Two pools are not compared on a torus, mesh or ring, which is bought in slices");
  const Result<Scenario> pooled = OnPools(request, problem);
  if (!pooled) return Fails("request", pooled.issues.front().message);
  const Fleet fleet(*pooled);
  const SizingProblem on_pools{*pooled,           problem.targets, problem.requests_per_s, problem.spare_replicas,
                               problem.purchases, problem.limits};
  const PoolsResult result = FindCheapestPools(on_pools, question, fleet);
  if (!result.cheapest) {
    return Fails(result.failing, result.failing == "memory"
                                     ? "No kind of replica fits, or the limits allow no two pools"
                                     : "No two pools meet the targets");
  }
  const SizedPools& sized = *result.cheapest;
  Scenario served = *pooled;
  served.serving = sized.load;
  served.cluster.devices = sized.bought.Total();
  const Json at_peak = *Evaluate(served, ReportDetail::Figures());
  Json day = DayAnswer(on_pools, question, fleet, sized);
  const double usd_per_hour = In(fleet.PaidThrough(day, sized.cost), kUsdPerHour);
  const ByPass<DollarsPerSecond> costs = fleet.HourlyCosts(sized.bought);
  const Json classes = ClassesAnswer(question, {served,
                                                at_peak["serving"],
                                                std::nullopt,
                                                problem.requests_per_s / PeakOverMean(question),
                                                sized.cost,
                                                {costs.prefill / sized.cost, costs.decode / sized.cost}});
  const bool one_holds = on_one["holds"].get<bool>();
  return ObjectOf(
      {{"holds", true},
       {"deployment", DeploymentOf(sized, fleet)},
       {"at_peak", FiguresOf(at_peak["serving"], std::nullopt)},
       {"cost", ObjectOf({{"usd_per_hour", usd_per_hour}})},
       {"saves", one_holds ? Json(1 - usd_per_hour / on_one["cost"]["usd_per_hour"].get<double>()) : Json(nullptr)},
       {"remarks", RemarksOn(*problem.scenario.serving, sized.load)},
       {"classes", classes},
       {"day", day},
       {"overrides", OverridesOfPools(sized)}});
}

}  // namespace slipstick
