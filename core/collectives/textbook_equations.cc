// The textbook's equations: one latency per message (alpha) and one bandwidth per rank (beta), for any wiring. For a
// group that spans several levels, they are the lowest bandwidth and the longest latency.
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
AlphaBeta SlowestOf(const CollectiveInstance& instance) {
  const GroupView& group = instance.view;
  const NetworkLevel* narrowest = group.levels[0].level;
  const NetworkLevel* farthest = narrowest;
  for (int i = 1; i < group.count; ++i) {
    const NetworkLevel* level = group.levels[i].level;
    if (level->bandwidth < narrowest->bandwidth) narrowest = level;
    if (level->latency > farthest->latency) farthest = level;
  }
  const BytesPerSecond beta =
      Procedure("Bandwidth of a rank", narrowest->bandwidth,
                {{narrowest->bandwidth, 1}, InSteps(group.ranks), InSteps(Ratio(group.levels[0].level->size))},
                "of the slowest level that the group spans");
  return {farthest->latency, beta};
}

template <CollectiveType type>
bool Only(const CollectiveInstance& instance) {
  return Is(instance, type);
}
bool IsGatherOrScatter(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllGather) || Is(instance, CollectiveType::kReduceScatter);
}

// A rank sends and receives every other rank's share twice, in any number of steps.
Seconds SharesTwice(const CollectiveInstance& instance, BytesPerSecond beta) {
  const Ratio ranks = instance.view.ranks;
  return 2 * (ranks - 1) / ranks * instance.call.bytes / beta;
}

AlgorithmTime AllReduceRing(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Seconds latency =
      Figure("Steps around the ring, twice", 2 * (instance.view.ranks - 1) * alpha, "", kTextbookSource);
  const Seconds time = Figure("All-reduce around a ring", latency + SharesTwice(instance, beta), "", kTextbookSource);
  return {time, latency, std::nullopt};
}

AlgorithmTime AllReduceTrees(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Seconds latency = Figure("Up and down the trees", 2 * log2(instance.view.ranks) * alpha, "", kTextbookSource);
  const Seconds time = Figure("All-reduce over two binary trees", latency + SharesTwice(instance, beta),
                              "half the data each; without the fill of their pipelines", kTextbookSource);
  return {time, latency, std::nullopt};
}

// Partners at halving or doubling distances; these are the levels of a tree.
AlgorithmTime HalvingOrDoubling(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Ratio ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds latency = Figure("One step per level of the tree", log2(ranks) * alpha, "", kTextbookSource);
  const Seconds time = Figure("Halving or doubling", latency + (ranks - 1) / ranks * bytes / beta, "", kTextbookSource);
  return {time, latency, std::nullopt};
}

// Each rank passes on all blocks but its own, or sends one block to each peer in turn.
AlgorithmTime BlockByBlock(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Ratio ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds latency = Figure("One step per other rank", (ranks - 1) * alpha, "", kTextbookSource);
  const Seconds time = Figure("Block by block", latency + (ranks - 1) / ranks * bytes / beta, "", kTextbookSource);
  return {time, latency, std::nullopt};
}

AlgorithmTime BroadcastTree(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Ratio ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Ratio steps = Figure("Depth of the tree", ceil(log2(ranks)));
  const Seconds time = Figure("Broadcast down a binomial tree", steps * (alpha + bytes / beta), "", kTextbookSource);
  return {time, steps * alpha, std::nullopt};
}

AlgorithmTime OneMessage(const CollectiveInstance& instance) {
  const auto [alpha, beta] = SlowestOf(instance);
  const Bytes bytes = instance.call.bytes;
  const Seconds time = Figure("One message", alpha + bytes / beta, "", kTextbookSource);
  return {time, alpha, std::nullopt};
}

}  // namespace

std::span<const Algorithm> TextbookEquations() {
  static constexpr Algorithm rows[] = {
      {"ring", "Ring", Only<CollectiveType::kAllReduce>, AllReduceRing},
      {"double_binary_tree", "Two binary trees", Only<CollectiveType::kAllReduce>, AllReduceTrees},
      {"ring", "Ring", IsGatherOrScatter, BlockByBlock},
      {"halving_doubling", "Recursive halving or doubling", IsGatherOrScatter, HalvingOrDoubling},
      {"pairwise", "One peer after another", Only<CollectiveType::kAllToAll>, BlockByBlock},
      {"binomial", "Binomial tree", Only<CollectiveType::kBroadcast>, BroadcastTree},
      {"send", "One message", Only<CollectiveType::kSendReceive>, OneMessage},
  };
  return rows;
}

}  // namespace slipstick
