// Exchange with a partner at a distance that halves or doubles: few steps, large messages.
#include "core/collectives/ideal.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005";
constexpr std::string_view kBruckSource = "Bruck et al., Efficient algorithms for all-to-all communications, 1997";

double LargestPowerOfTwo(double ranks) { return std::exp2(floor(log2(ranks) + 1e-9)); }

bool OnLeaves(const Problem& problem) {
  return IsFlat(problem, Topology::kFatTree) && IsPowerOfTwo(problem.view.levels[0].leaf) && IsPowerOfTwo(problem.view.ranks);
}
bool OnRing(const Problem& problem) { return IsClosedRing(problem) && IsPowerOfTwo(problem.view.ranks); }

bool HalvingApplies(const Problem& problem) {
  if (!IsReductionOrGather(problem)) return false;
  if (IsSwitch(problem)) return IsPowerOfTwo(problem.view.ranks) || Is(problem, Pattern::kAllReduce);
  return OnRing(problem) || OnLeaves(problem);
}

// Partners at distance d exchange bytes*d/ranks: over d links of a ring, or up a fat tree once they lie in two leaves.
AlgorithmTime HalvingByDistance(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = problem.view.ranks, passes = PassesOf(problem), leaf = view.leaf;
  const double oversubscription = view.level->oversubscription;
  const bool on_ring = IsGrid(view);
  double hops = 0, load = 0;  // messages in latencies, bytes on the busiest link over the call's bytes
  for (double distance = ranks / 2; distance >= 1; distance /= 2) {
    const double far = on_ring ? distance : distance >= leaf ? 2 : 1;
    const double shared = on_ring ? (distance == ranks / 2 ? distance / 2 : distance) : distance >= leaf ? oversubscription : 1;
    hops += far;
    load += shared * distance / ranks;
  }
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.link;
  FIGURE(trace, latency, passes * hops * alpha, (Note{"Latencies of all steps", "distance, in messages over one link or stage", kSource}),
         passes, hops, alpha);
  FIGURE(trace, transfer, passes * load * bytes / link,
         (Note{"Bytes through the busiest link", "load: of each step, over the whole buffer", kSource}), passes, load, bytes, link);
  return Total(problem, latency, transfer, Reduces(problem) ? (ranks - 1) / ranks * bytes : Bytes(), trace);
}

AlgorithmTime HalvingTime(const Problem& problem, Trace& trace) {
  if (!IsSwitch(problem)) return HalvingByDistance(problem, trace);
  const LevelView& view = problem.view.levels[0];
  const double passes = PassesOf(problem);
  const double ranks = LargestPowerOfTwo(problem.view.ranks);
  const double folds = ranks == problem.view.ranks ? 0 : 2;  // extra ranks hand their buffer to a partner and get the result back
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, (passes * log2(ranks) + folds) * alpha,
         (Note{"Steps", "ranks beyond a power of two are folded in first and out last", kSource}), passes, ranks, folds, alpha);
  FIGURE(trace, transfer, (passes * (ranks - 1) / ranks + folds) * bytes / link, (Note{"Bytes through a rank's link", "", kSource}), passes,
         ranks, folds, bytes, link);
  return Total(problem, latency, transfer, Reduces(problem) ? (ranks - 1) / ranks * bytes : Bytes(), trace);
}

bool DoublingApplies(const Problem& problem) {
  return Is(problem, Pattern::kAllReduce) && IsSwitch(problem) && IsPowerOfTwo(problem.view.ranks);
}
AlgorithmTime DoublingTime(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = problem.view.ranks;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, log2(ranks) * alpha, (Note{"Steps", "", kSource}), ranks, alpha);
  FIGURE(trace, transfer, log2(ranks) * bytes / link, (Note{"The whole buffer at each step", "", kSource}), ranks, bytes, link);
  return Total(problem, latency, transfer, log2(ranks) * bytes, trace);
}

bool BruckApplies(const Problem& problem) {
  return Is(problem, Pattern::kAllToAll) && IsSwitch(problem) && IsPowerOfTwo(problem.view.ranks);
}
AlgorithmTime BruckTime(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = problem.view.ranks;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, log2(ranks) * alpha, (Note{"Steps", "", kBruckSource}), ranks, alpha);
  FIGURE(trace, transfer, log2(ranks) * bytes / (2 * link), (Note{"Half the buffer at each step", "", kBruckSource}), ranks, bytes, link);
  return Total(problem, latency, transfer, Bytes(), trace);
}

bool BinomialApplies(const Problem& problem) {
  if (!Is(problem, Pattern::kBroadcast) || HasDragonfly(problem)) return false;
  for (int i = 0; i < problem.view.count; ++i) {
    const LevelView& view = problem.view.levels[i];
    if (!IsGrid(view)) continue;
    for (int side = 0; side < view.sides; ++side) {
      if (!IsPowerOfTwo(view.side[side])) return false;
    }
  }
  return true;
}
// Level by level, outermost first, so that the far messages are few.
AlgorithmTime BinomialTime(const Problem& problem, Trace& trace) {
  const Bytes bytes = problem.call.bytes;
  Seconds latency_sum, transfer_sum;
  for (int i = 0; i < problem.view.count; ++i) {
    const LevelView& view = problem.view.levels[i];
    const Trace::Scope scope(trace, kLevelScopes[i]);
    double steps = ceil(log2(view.ranks)), narrowing = 1, links = 1;
    if (IsGrid(view)) {
      // Partners lie a power of two apart along one side, and every message crosses all links between.
      steps = 0;
      for (int side = 0; side < view.sides; ++side) steps += view.side[side] - 1;
    } else if (view.level->topology == Topology::kFatTree && view.leaf < view.ranks) {
      narrowing = view.level->oversubscription;
      links = 2;  // up to the core and down
    }
    const Seconds alpha = view.level->latency;
    const BytesPerSecond link = IsSwitch(view) || view.level->topology == Topology::kFatTree ? view.injection : view.link;
    FIGURE(trace, level_latency, steps * links * alpha, (Note{"Steps", "", kSource}), steps, links, alpha);
    FIGURE(trace, level_transfer, steps * narrowing * bytes / link, (Note{"The whole buffer at each step", "", kSource}), steps, narrowing,
           bytes, link);
    latency_sum += level_latency;
    transfer_sum += level_transfer;
  }
  return Total(problem, latency_sum, transfer_sum, Bytes(), trace);
}

bool ScatterApplies(const Problem& problem) {
  return Is(problem, Pattern::kBroadcast) && IsSwitch(problem) && IsPowerOfTwo(problem.view.ranks);
}
AlgorithmTime ScatterTime(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = problem.view.ranks;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, (log2(ranks) + ranks - 1) * alpha, (Note{"Scatter by halves, gather round a ring", "", kSource}), ranks, alpha);
  FIGURE(trace, transfer, 2 * (ranks - 1) / ranks * bytes / link, (Note{"Bytes through a rank's link", "", kSource}), ranks, bytes, link);
  return Total(problem, latency, transfer, Bytes(), trace);
}

}  // namespace

const std::vector<Algorithm>& RecursiveAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"halving_doubling", "Recursive halving and doubling", kSource, Transport::kIdeal, HalvingApplies, HalvingTime},
      {"recursive_doubling", "Recursive doubling of the whole buffer", kSource, Transport::kIdeal, DoublingApplies, DoublingTime},
      {"bruck", "Bruck's exchange", kBruckSource, Transport::kIdeal, BruckApplies, BruckTime},
      {"binomial", "Binomial tree", kSource, Transport::kIdeal, BinomialApplies, BinomialTime},
      {"scatter_all_gather", "Scatter, then all-gather", kSource, Transport::kIdeal, ScatterApplies, ScatterTime},
  };
  return rows;
}

}  // namespace slipstick
