// The textbook's equations: one latency per message (alpha) and one bandwidth per rank (beta), whatever the wiring. Of
// a group that spans several levels, the slowest bandwidth and the longest latency.
#include <string>

#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kTextbookSource =
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005; Sanders, "
    "Speck and Traeff, 2009";

struct AlphaBeta {
  Seconds alpha;
  BytesPerSecond beta;
};
AlphaBeta SlowestOf(const CollectiveInstance& instance, Trace& trace) {
  AlphaBeta slowest;
  int narrowest = 0, farthest = 0;  // levels
  for (int i = 0; i < instance.view.count; ++i) {
    const NetworkLevel& level = *instance.view.levels[i].level;
    if (i == 0 || level.bandwidth < slowest.beta)
      slowest.beta = level.bandwidth, narrowest = instance.view.levels[i].index;
    if (i == 0 || level.latency > slowest.alpha)
      slowest.alpha = level.latency, farthest = instance.view.levels[i].index;
  }
  if (trace.on()) {
    trace.Input("alpha", slowest.alpha, "cluster.networks." + std::to_string(farthest) + ".latency");
    const std::string path = "cluster.networks." + std::to_string(narrowest) + ".bandwidth";
    const double node_size = static_cast<double>(instance.view.levels[0].level->size), ranks = instance.view.ranks;
    const BytesPerSecond level_bandwidth = slowest.beta;
    trace.Input("node_size", node_size, "cluster.networks." + std::to_string(instance.view.levels[0].index) + ".size");
    trace.Input("level_bandwidth", level_bandwidth, path);
    trace.Alias("level_bandwidth", level_bandwidth, path);  // a share of it that a caller named so
    trace.Procedure("beta", slowest.beta, Note{"Bandwidth of a rank", "of the slowest level that the group spans"},
                    "level_bandwidth, ranks, node_size", level_bandwidth, ranks, node_size);
    trace.MovesBy(0, 1);
  }
  return slowest;
}

template <CollectiveType type>
bool Only(const CollectiveInstance& instance) {
  return Is(instance, type);
}
bool IsGatherOrScatter(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllGather) || Is(instance, CollectiveType::kReduceScatter);
}

// A rank sends and receives every other rank's share twice, in whatever steps.
AlgorithmTime AllReduceAfter(Seconds latency, const CollectiveInstance& instance, BytesPerSecond beta, const Note& note,
                             Trace& trace) {
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  LISTED_FIGURE(trace, time, latency + 2 * (ranks - 1) / ranks * bytes / beta, note, latency, ranks, bytes, beta);
  return {time, latency, std::nullopt};
}

AlgorithmTime AllReduceRing(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const double ranks = instance.view.ranks;
  FIGURE(trace, latency, 2 * (ranks - 1) * alpha, (Note{"Steps around the ring, twice", "", kTextbookSource}), ranks,
         alpha);
  return AllReduceAfter(latency, instance, beta, Note{"All-reduce around a ring", "", kTextbookSource}, trace);
}

AlgorithmTime AllReduceTrees(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const double ranks = instance.view.ranks;
  FIGURE(trace, latency, 2 * log2(ranks) * alpha, (Note{"Up and down the trees", "", kTextbookSource}), ranks, alpha);
  return AllReduceAfter(latency, instance, beta,
                        Note{"All-reduce over two binary trees",
                             "half the data each; without the fill of their pipelines", kTextbookSource},
                        trace);
}

// Partners at halving or doubling distances, which are the levels of a tree.
AlgorithmTime HalvingOrDoubling(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  FIGURE(trace, latency, log2(ranks) * alpha, (Note{"One step per level of the tree", "", kTextbookSource}), ranks,
         alpha);
  FIGURE(trace, time, latency + (ranks - 1) / ranks * bytes / beta, (Note{"Halving or doubling", "", kTextbookSource}),
         latency, ranks, bytes, beta);
  return {time, latency, std::nullopt};
}

// Each rank passes on, or sends to each peer in turn, all but its own block.
AlgorithmTime BlockByBlock(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  FIGURE(trace, latency, (ranks - 1) * alpha, (Note{"One step per other rank", "", kTextbookSource}), ranks, alpha);
  FIGURE(trace, time, latency + (ranks - 1) / ranks * bytes / beta, (Note{"Block by block", "", kTextbookSource}),
         latency, ranks, bytes, beta);
  return {time, latency, std::nullopt};
}

AlgorithmTime BroadcastTree(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const double ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  FIGURE(trace, steps, ceil(log2(ranks)), (Note{"Depth of the tree"}), ranks);
  FIGURE(trace, time, steps * (alpha + bytes / beta), (Note{"Broadcast down a binomial tree", "", kTextbookSource}),
         steps, alpha, bytes, beta);
  return {time, steps * alpha, std::nullopt};
}

AlgorithmTime OneMessage(const CollectiveInstance& instance, Trace& trace) {
  const auto [alpha, beta] = SlowestOf(instance, trace);
  const Bytes bytes = instance.call.bytes;
  FIGURE(trace, time, alpha + bytes / beta, (Note{"One message", "", kTextbookSource}), alpha, bytes, beta);
  return {time, alpha, std::nullopt};
}

}  // namespace

const std::vector<Algorithm>& TextbookEquations() {
  constexpr CollectiveLibrary kLibrary = CollectiveLibrary::kAlphaBeta;
  static const std::vector<Algorithm> rows{
      {"ring", "Ring", kTextbookSource, kLibrary, Only<CollectiveType::kAllReduce>, nullptr, AllReduceRing},
      {"double_binary_tree", "Two binary trees", kTextbookSource, kLibrary, Only<CollectiveType::kAllReduce>, nullptr,
       AllReduceTrees},
      {"ring", "Ring", kTextbookSource, kLibrary, IsGatherOrScatter, nullptr, BlockByBlock},
      {"halving_doubling", "Recursive halving or doubling", kTextbookSource, kLibrary, IsGatherOrScatter, nullptr,
       HalvingOrDoubling},
      {"pairwise", "One peer after another", kTextbookSource, kLibrary, Only<CollectiveType::kAllToAll>, nullptr,
       BlockByBlock},
      {"binomial", "Binomial tree", kTextbookSource, kLibrary, Only<CollectiveType::kBroadcast>, nullptr,
       BroadcastTree},
      {"send", "One message", kTextbookSource, kLibrary, Only<CollectiveType::kSendReceive>, nullptr, OneMessage},
  };
  return rows;
}

}  // namespace slipstick
