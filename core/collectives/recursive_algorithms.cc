// Exchanges with partners at halving or doubling distances: few steps, large messages.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kRecursiveSource =
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005";
constexpr std::string_view kBruckSource =
    "Bruck et al., Efficient algorithms for all-to-all communications, 1997; on a hypercube Johnsson and Ho, Optimum "
    "broadcasting and "
    "personalized communication in hypercubes, 1989";

Ratio LargestPowerOfTwo(Ratio ranks) {
  const double largest = std::exp2(WholeBelow(log2(ranks)));
  if (largest == ranks) return ranks;
  return Procedure<Ratio>("Ranks, down to a power of two", largest, {ranks});
}

bool LiesOnLeaves(const CollectiveInstance& instance) {
  return IsFlat(instance, Topology::kFatTree) && IsPowerOfTwo(instance.view.levels[0].leaf) &&
         IsPowerOfTwo(instance.view.ranks);
}
bool OnRing(const CollectiveInstance& instance) { return IsClosedRing(instance) && IsPowerOfTwo(instance.view.ranks); }

bool HalvingApplies(const CollectiveInstance& instance) {
  if (!IsReductionOrGather(instance)) return false;
  if (IsSwitch(instance) && Is(instance, CollectiveType::kAllReduce)) return true;
  return JoinsPowersOfTwo(instance) || OnRing(instance) || LiesOnLeaves(instance);
}

// Partners at distance d exchange bytes * d / ranks: over d links of a ring, or through the core of a fat tree if they
// are on two leaves.
AlgorithmTime HalvingByDistance(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const Ratio ranks = instance.view.ranks, passes = PassesOf(instance), leaf = view.leaf;
  const Ratio narrowing = NarrowingOf(view, 1);  // beyond the leaf, all its ranks send out of it
  const bool on_ring = IsGrid(view);
  // Latencies; bytes on the busiest link relative to the call's bytes, in total and through the core.
  double hops = 0, load = 0, load_on_core = 0;
  for (double distance = ranks / 2; distance >= 1; distance /= 2) {
    const double far = on_ring ? distance : distance >= leaf ? 2 : 1;
    const double shared = on_ring            ? (distance == ranks / 2 ? distance / 2 : distance)
                          : distance >= leaf ? narrowing.base()
                                             : 1;
    hops += far;
    load += shared * distance / ranks;
    if (!on_ring && distance >= leaf) load_on_core += shared * distance / ranks;
  }
  const Ratio steps = Procedure<Ratio>("Links or switch stages over all steps", hops, {ranks});
  const Ratio share = Procedure<Ratio>("Share of the buffer over the busiest link", load,
                                       {ranks, {narrowing, load_on_core / load}}, "over all steps");
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Seconds latency = Figure("Latencies of all steps", passes * steps * alpha, "", kRecursiveSource);
  const Seconds transfer =
      Figure("Bytes through the busiest link", passes * share * bytes / link, "", kRecursiveSource);
  return Total(instance, latency, transfer, ReducedBytes(instance));
}

AlgorithmTime HalvingTime(const CollectiveInstance& instance) {
  if (!IsSwitch(instance) && !JoinsPowersOfTwo(instance)) return HalvingByDistance(instance);
  const auto [all_ranks, bytes, alpha, link] = GroupOfPartners(instance);
  const Ratio passes = PassesOf(instance), ranks = LargestPowerOfTwo(all_ranks);
  // extra ranks send their buffer to a partner and receive the result
  const double folds = ranks == all_ranks ? 0 : 2;
  const Seconds latency = Figure("Steps", (passes * log2(ranks) + folds) * alpha,
                                 "ranks beyond a power of two are folded in first and out last", kRecursiveSource);
  const Seconds transfer = Figure("Bytes through a rank's link", (passes * (ranks - 1) / ranks + folds) * bytes / link,
                                  "", kRecursiveSource);
  return Total(instance, latency, transfer, Reduces(instance) ? (ranks - 1) / ranks * bytes : Bytes());
}

bool DoublingApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && JoinsPowersOfTwo(instance);
}
AlgorithmTime DoublingTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = GroupOfPartners(instance);
  const Seconds latency = Figure("Steps", log2(ranks) * alpha, "", kRecursiveSource);
  const Seconds transfer = Figure("The whole buffer at each step", log2(ranks) * bytes / link, "", kRecursiveSource);
  return Total(instance, latency, transfer, log2(ranks) * bytes);
}

bool BruckApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && JoinsPowersOfTwo(instance);
}
AlgorithmTime BruckTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = GroupOfPartners(instance);
  const Seconds latency = Figure("Steps", log2(ranks) * alpha, "", kBruckSource);
  const Seconds transfer = Figure("Half the buffer at each step", log2(ranks) * bytes / (2 * link), "", kBruckSource);
  return Total(instance, latency, transfer);
}

bool BinomialApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kBroadcast); }
// Level by level, outermost first: fewest long-distance messages.
AlgorithmTime BinomialTime(const CollectiveInstance& instance) {
  const Bytes bytes = instance.call.bytes;
  Seconds latency_sum, transfer_sum;
  Ratio inside = 1;  // ranks of the group in each unit of the level, of which one sends
  for (int i = 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    Ratio steps = ceil(log2(view.ranks)), narrowing = 1, links = 1;
    if (IsGrid(view)) {
      // Partners are at halving distances along one side; a message crosses all links in between.
      double along = 0;
      for (int side = 0; side < view.sides; ++side) along += view.side[side] - 1;
      steps = OfBlock("Steps along the sides", along, view);
    } else if (ReachesCore(view)) {
      narrowing = NarrowingOfRing(view, inside);
      links = 2;  // up to the core and down
    } else if (view.level->topology == Topology::kDragonfly) {
      // To the gateway, over the only link between two groups, from the gateway.
      if (i > 0) narrowing = max(1.0, (view.ranks - 1) / instance.view.levels[0].ranks);
      links = 3;
    }
    const Seconds alpha = view.latency;
    const BytesPerSecond link =
        IsSwitch(view) || view.level->topology == Topology::kFatTree ? view.injection : view.link;
    const Seconds level_latency = Figure("Steps", steps * links * alpha, "", kRecursiveSource);
    const Seconds level_transfer =
        Figure("The whole buffer at each step", steps * narrowing * bytes / link, "", kRecursiveSource);
    latency_sum += level_latency;
    transfer_sum += level_transfer;
    inside *= view.ranks;
  }
  return Total(instance, latency_sum, transfer_sum);
}

bool ScatterApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && JoinsPowersOfTwo(instance);
}
AlgorithmTime ScatterTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = GroupOfPartners(instance);
  const Seconds latency =
      Figure("Scatter by halving, all-gather around a ring", (log2(ranks) + ranks - 1) * alpha, "", kRecursiveSource);
  const Seconds transfer =
      Figure("Bytes through a rank's link", 2 * (ranks - 1) / ranks * bytes / link, "", kRecursiveSource);
  return Total(instance, latency, transfer);
}

}  // namespace

std::span<const Algorithm> RecursiveAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"halving_doubling", "Recursive halving and doubling", HalvingApplies, HalvingTime},
      {"recursive_doubling", "Recursive doubling of the whole buffer", DoublingApplies, DoublingTime},
      {"bruck", "Bruck's exchange", BruckApplies, BruckTime},
      {"binomial", "Binomial tree", BinomialApplies, BinomialTime},
      {"scatter_all_gather", "Scatter, then all-gather", ScatterApplies, ScatterTime},
  };
  return rows;
}

}  // namespace slipstick
