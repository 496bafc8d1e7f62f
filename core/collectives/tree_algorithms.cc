// Pipelined trees and chains on a switch: the buffer is sent in chunks.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kTreeSource =
    "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009";

bool TreeApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsSwitch(instance) && instance.view.ranks > 2;
}

// Additional latencies if each latency delays the next message: the chunks after the first wait once on the way up and
// once on the way down.
Ratio WaitsOf(const CollectiveInstance& instance, Ratio chunks) {
  return instance.call.alpha_beta.overlaps ? Ratio() : 2 * (chunks - 1);
}

AlgorithmTime TreeTime(const CollectiveInstance& instance, double trees) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Ratio depth = Figure("Depth of the tree", ceil(log2(ranks)));
  const bool is_double = trees == 2;
  const Ratio fill = is_double ? (4 * depth - 6) / 2 : 4 * depth - 2;
  const Ratio chunks = ChunksOf(instance, fill / 2, alpha), waits = WaitsOf(instance, chunks);
  // An inner node of a tree receives two chunks from its children per chunk sent; with two trees every rank is an inner
  // node.
  const double per_chunk = is_double ? 4 : 3;
  const double ends = is_double ? 6 : chunks > 1 ? 2 : 5;
  const Seconds latency = Figure("Up and down the tree", (2 * depth + waits) * alpha, "", kTreeSource);
  const Seconds transfer =
      Figure("Chunks through the busiest node, and the pipeline's fill",
             (per_chunk * chunks + 4 * depth - ends) * bytes / (trees * chunks * link), "", kTreeSource);
  return Total(instance, latency, transfer, Bytes());
}
AlgorithmTime SingleTree(const CollectiveInstance& instance) { return TreeTime(instance, 1); }
AlgorithmTime DoubleTree(const CollectiveInstance& instance) { return TreeTime(instance, 2); }

// Only down the tree: an inner node sends each chunk to two children; with two trees it is an inner node of only one.
bool BroadcastApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && IsSwitch(instance) && instance.view.ranks > 2;
}
AlgorithmTime BroadcastTime(const CollectiveInstance& instance, double trees) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Ratio depth = Figure("Depth of the tree", ceil(log2(ranks)));
  const Ratio chunks = ChunksOf(instance, 2 * (depth - 1) / trees, alpha), waits = WaitsOf(instance, chunks);
  const Seconds latency = Figure("Down the tree", (depth + waits) * alpha, "", kTreeSource);
  const Seconds transfer = Figure("Chunks to two children, and the pipeline's fill",
                                  2 * (chunks + depth - 1) * bytes / (trees * chunks * link), "", kTreeSource);
  return Total(instance, latency, transfer, Bytes());
}
AlgorithmTime BroadcastSingle(const CollectiveInstance& instance) { return BroadcastTime(instance, 1); }
AlgorithmTime BroadcastDouble(const CollectiveInstance& instance) { return BroadcastTime(instance, 2); }

bool ChainApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && IsSwitch(instance);
}
AlgorithmTime ChainTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Ratio chunks = ChunksOf(instance, ranks - 2, alpha),
              waits = instance.call.alpha_beta.overlaps ? Ratio() : chunks - 1;
  const Seconds latency = Figure("Down the chain", (ranks - 1 + waits) * alpha);
  const Seconds transfer = Figure("Chunks in a pipeline", (ranks + chunks - 2) * bytes / (chunks * link));
  return Total(instance, latency, transfer, Bytes());
}

}  // namespace

const std::vector<Algorithm>& TreeAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"binary_tree", "One binary tree", kTreeSource, CollectiveLibrary::kAnalytic, TreeApplies, SingleTree},
      {"double_binary_tree", "Two binary trees, half the data each", kTreeSource, CollectiveLibrary::kAnalytic,
       TreeApplies, DoubleTree},
      {"binary_tree", "One binary tree", kTreeSource, CollectiveLibrary::kAnalytic, BroadcastApplies, BroadcastSingle},
      {"double_binary_tree", "Two binary trees, half the data each", kTreeSource, CollectiveLibrary::kAnalytic,
       BroadcastApplies, BroadcastDouble},
      {"chain", "Pipelined chain", kTreeSource, CollectiveLibrary::kAnalytic, ChainApplies, ChainTime},
  };
  return rows;
}

}  // namespace slipstick
