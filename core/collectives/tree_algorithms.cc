// Pipelined trees and chains on a switch: the buffer is sent in chunks.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kTreeSource =
    "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009";

bool TreeApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsSwitch(instance) && instance.view.ranks > 2;
}

// Extra latencies where each one delays the next message: the chunks after the first wait once on the way up and once
// on the way down.
double WaitsOf(const CollectiveInstance& instance, double chunks) {
  return instance.call.alpha_beta.overlaps ? 0 : 2 * (chunks - 1);
}

AlgorithmTime TreeTime(const CollectiveInstance& instance, double trees, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, depth, ceil(log2(ranks)), (Note{"Depth of the tree"}), ranks);
  const bool is_double = trees == 2;
  const double fill = is_double ? (4 * depth - 6) / 2 : 4 * depth - 2;
  const double chunks = ChunksOf(instance, fill / 2, alpha), waits = WaitsOf(instance, chunks);
  // An inner node of a tree receives two chunks from its children per chunk sent; with two trees every rank is an inner
  // node.
  const double per_chunk = is_double ? 4 : 3;
  const double ends = is_double ? 6 : chunks > 1 ? 2 : 5;
  FIGURE(trace, latency, (2 * depth + waits) * alpha, (Note{"Up and down the tree", "", kTreeSource}), depth, waits,
         alpha);
  FIGURE(trace, transfer, (per_chunk * chunks + 4 * depth - ends) * bytes / (trees * chunks * link),
         (Note{"Chunks through the busiest node, and the pipeline's fill", "", kTreeSource}), per_chunk, chunks, depth,
         ends, bytes, trees, link);
  return Total(instance, latency, transfer, Bytes(), trace);
}
AlgorithmTime SingleTree(const CollectiveInstance& instance, Trace& trace) { return TreeTime(instance, 1, trace); }
AlgorithmTime DoubleTree(const CollectiveInstance& instance, Trace& trace) { return TreeTime(instance, 2, trace); }

// Down only: an inner node sends each chunk to two children; with two trees it is an inner node of one of them.
bool BroadcastApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && IsSwitch(instance) && instance.view.ranks > 2;
}
AlgorithmTime BroadcastTime(const CollectiveInstance& instance, double trees, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, depth, ceil(log2(ranks)), (Note{"Depth of the tree"}), ranks);
  const double chunks = ChunksOf(instance, 2 * (depth - 1) / trees, alpha), waits = WaitsOf(instance, chunks);
  FIGURE(trace, latency, (depth + waits) * alpha, (Note{"Down the tree", "", kTreeSource}), depth, waits, alpha);
  FIGURE(trace, transfer, 2 * (chunks + depth - 1) * bytes / (trees * chunks * link),
         (Note{"Chunks to two children, and the pipeline's fill", "", kTreeSource}), chunks, depth, bytes, trees, link);
  return Total(instance, latency, transfer, Bytes(), trace);
}
AlgorithmTime BroadcastSingle(const CollectiveInstance& instance, Trace& trace) {
  return BroadcastTime(instance, 1, trace);
}
AlgorithmTime BroadcastDouble(const CollectiveInstance& instance, Trace& trace) {
  return BroadcastTime(instance, 2, trace);
}

bool ChainApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && IsSwitch(instance);
}
AlgorithmTime ChainTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.injection;
  const double chunks = ChunksOf(instance, ranks - 2, alpha),
               waits = instance.call.alpha_beta.overlaps ? 0 : chunks - 1;
  FIGURE(trace, latency, (ranks - 1 + waits) * alpha, (Note{"Down the chain"}), ranks, waits, alpha);
  FIGURE(trace, transfer, (ranks + chunks - 2) * bytes / (chunks * link), (Note{"Chunks in a pipeline"}), ranks, chunks,
         bytes, link);
  return Total(instance, latency, transfer, Bytes(), trace);
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
