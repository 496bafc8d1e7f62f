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

double LargestPowerOfTwo(double ranks) { return std::exp2(WholeBelow(log2(ranks))); }

bool OnLeaves(const CollectiveInstance& instance) {
  return IsFlat(instance, Topology::kFatTree) && IsPowerOfTwo(instance.view.levels[0].leaf) &&
         IsPowerOfTwo(instance.view.ranks);
}
bool OnRing(const CollectiveInstance& instance) { return IsClosedRing(instance) && IsPowerOfTwo(instance.view.ranks); }

bool HalvingApplies(const CollectiveInstance& instance) {
  if (!IsReductionOrGather(instance)) return false;
  if (IsSwitch(instance) && Is(instance, CollectiveType::kAllReduce)) return true;
  return JoinsPowersOfTwo(instance) || OnRing(instance) || OnLeaves(instance);
}

// Partners at distance d exchange bytes * d / ranks: over d links of a ring, or through the core of a fat tree if they
// are in two leaves.
AlgorithmTime HalvingByDistance(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = instance.view.ranks, passes = PassesOf(instance), leaf = view.leaf;
  const double oversubscription = view.level->oversubscription;
  const bool on_ring = IsGrid(view);
  double hops = 0, load = 0;  // latencies; bytes on the busiest link over the call's bytes
  for (double distance = ranks / 2; distance >= 1; distance /= 2) {
    const double far = on_ring ? distance : distance >= leaf ? 2 : 1;
    const double shared = on_ring            ? (distance == ranks / 2 ? distance / 2 : distance)
                          : distance >= leaf ? oversubscription
                                             : 1;
    hops += far;
    load += shared * distance / ranks;
  }
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  FIGURE(trace, latency, passes * hops * alpha,
         (Note{"Latencies of all steps", "hops: links or switch stages over all steps", kRecursiveSource}), passes,
         hops, alpha);
  FIGURE(trace, transfer, passes * load * bytes / link,
         (Note{"Bytes through the busiest link", "load: sum over the steps, relative to the buffer", kRecursiveSource}),
         passes, load, bytes, link);
  return Total(instance, latency, transfer, Reduces(instance) ? (ranks - 1) / ranks * bytes : Bytes(), trace);
}

AlgorithmTime HalvingTime(const CollectiveInstance& instance, Trace& trace) {
  if (!IsSwitch(instance) && !JoinsPowersOfTwo(instance)) return HalvingByDistance(instance, trace);
  const LevelView& view = instance.view.levels[0];
  const double passes = PassesOf(instance);
  const double ranks = LargestPowerOfTwo(instance.view.ranks);
  // extra ranks send their buffer to a partner and receive the result
  const double folds = ranks == instance.view.ranks ? 0 : 2;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = LinkToPartner(instance);
  FIGURE(trace, latency, (passes * log2(ranks) + folds) * alpha,
         (Note{"Steps", "ranks beyond a power of two are folded in first and out last", kRecursiveSource}), passes,
         ranks, folds, alpha);
  FIGURE(trace, transfer, (passes * (ranks - 1) / ranks + folds) * bytes / link,
         (Note{"Bytes through a rank's link", "", kRecursiveSource}), passes, ranks, folds, bytes, link);
  return Total(instance, latency, transfer, Reduces(instance) ? (ranks - 1) / ranks * bytes : Bytes(), trace);
}

bool DoublingApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && JoinsPowersOfTwo(instance);
}
AlgorithmTime DoublingTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = LinkToPartner(instance);
  FIGURE(trace, latency, log2(ranks) * alpha, (Note{"Steps", "", kRecursiveSource}), ranks, alpha);
  FIGURE(trace, transfer, log2(ranks) * bytes / link, (Note{"The whole buffer at each step", "", kRecursiveSource}),
         ranks, bytes, link);
  return Total(instance, latency, transfer, log2(ranks) * bytes, trace);
}

bool BruckApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && JoinsPowersOfTwo(instance);
}
AlgorithmTime BruckTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = LinkToPartner(instance);
  FIGURE(trace, latency, log2(ranks) * alpha, (Note{"Steps", "", kBruckSource}), ranks, alpha);
  FIGURE(trace, transfer, log2(ranks) * bytes / (2 * link), (Note{"Half the buffer at each step", "", kBruckSource}),
         ranks, bytes, link);
  return Total(instance, latency, transfer, Bytes(), trace);
}

bool BinomialApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kBroadcast); }
// Level by level, outermost first: fewest long-distance messages.
AlgorithmTime BinomialTime(const CollectiveInstance& instance, Trace& trace) {
  const Bytes bytes = instance.call.bytes;
  Seconds latency_sum, transfer_sum;
  for (int i = 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const Trace::Scope scope(trace, kLevelScopes[i]);
    double steps = ceil(log2(view.ranks)), narrowing = 1, links = 1;
    if (IsGrid(view)) {
      // Partners are at halving distances along one side; a message crosses all links in between.
      steps = 0;
      for (int side = 0; side < view.sides; ++side) steps += view.side[side] - 1;
    } else if (view.level->topology == Topology::kFatTree && view.leaf < view.ranks) {
      narrowing = view.level->oversubscription;
      links = 2;  // up to the core and down
    } else if (view.level->topology == Topology::kDragonfly) {
      // To the gateway, over the only link between two groups, from the gateway.
      if (i > 0) narrowing = max(1.0, (view.ranks - 1) / instance.view.levels[0].ranks);
      links = 3;
    }
    const Seconds alpha = view.latency;
    const BytesPerSecond link =
        IsSwitch(view) || view.level->topology == Topology::kFatTree ? view.injection : view.link;
    FIGURE(trace, level_latency, steps * links * alpha, (Note{"Steps", "", kRecursiveSource}), steps, links, alpha);
    FIGURE(trace, level_transfer, steps * narrowing * bytes / link,
           (Note{"The whole buffer at each step", "", kRecursiveSource}), steps, narrowing, bytes, link);
    latency_sum += level_latency;
    transfer_sum += level_transfer;
  }
  return Total(instance, latency_sum, transfer_sum, Bytes(), trace);
}

bool ScatterApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && JoinsPowersOfTwo(instance);
}
AlgorithmTime ScatterTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = LinkToPartner(instance);
  FIGURE(trace, latency, (log2(ranks) + ranks - 1) * alpha,
         (Note{"Scatter by halving, all-gather around a ring", "", kRecursiveSource}), ranks, alpha);
  FIGURE(trace, transfer, 2 * (ranks - 1) / ranks * bytes / link,
         (Note{"Bytes through a rank's link", "", kRecursiveSource}), ranks, bytes, link);
  return Total(instance, latency, transfer, Bytes(), trace);
}

}  // namespace

const std::vector<Algorithm>& RecursiveAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"halving_doubling", "Recursive halving and doubling", kRecursiveSource, CollectiveLibrary::kAnalytic,
       HalvingApplies, HalvingTime},
      {"recursive_doubling", "Recursive doubling of the whole buffer", kRecursiveSource, CollectiveLibrary::kAnalytic,
       DoublingApplies, DoublingTime},
      {"bruck", "Bruck's exchange", kBruckSource, CollectiveLibrary::kAnalytic, BruckApplies, BruckTime},
      {"binomial", "Binomial tree", kRecursiveSource, CollectiveLibrary::kAnalytic, BinomialApplies, BinomialTime},
      {"scatter_all_gather", "Scatter, then all-gather", kRecursiveSource, CollectiveLibrary::kAnalytic, ScatterApplies,
       ScatterTime},
  };
  return rows;
}

}  // namespace slipstick
