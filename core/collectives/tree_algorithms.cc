// Pipelined trees: the buffer is sent in chunks.
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
  return Total(instance, latency, transfer);
}
AlgorithmTime SingleTree(const CollectiveInstance& instance) { return TreeTime(instance, 1); }
AlgorithmTime DoubleTree(const CollectiveInstance& instance) { return TreeTime(instance, 2); }

// Only down the tree: an inner node sends each chunk to two children; with two trees it is an inner node of only one.
bool BroadcastApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) && IsNonBlocking(instance) && instance.view.ranks > 2;
}
AlgorithmTime BroadcastTime(const CollectiveInstance& instance, double trees) {
  const LevelView& view = instance.view.levels[0];
  const Ratio ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds alpha = AlphaOf(view);
  const Ratio depth = Figure("Depth of the tree", ceil(log2(ranks)));
  const Ratio chunks = ChunksOf(instance, 2 * (depth - 1) / trees, alpha), waits = WaitsOf(instance, chunks);
  const Seconds latency = Figure("Down the tree", (depth + waits) * alpha, "", kTreeSource);
  const Seconds transfer = Figure("Chunks to two children, and the pipeline's fill",
                                  2 * (chunks + depth - 1) * bytes / (trees * chunks * link), "", kTreeSource);
  return Total(instance, latency, transfer);
}
AlgorithmTime BroadcastSingle(const CollectiveInstance& instance) { return BroadcastTime(instance, 1); }
AlgorithmTime BroadcastDouble(const CollectiveInstance& instance) { return BroadcastTime(instance, 2); }

// As many trees from the source as a corner of the grid has links, no two over a link in the same direction, each with
// its part of the buffer: Edmonds' theorem grants them, since no fewer links than those of a corner cut a grid (Xu
// and Yang, Connectivity of Cartesian product graphs, 2006). No tree is deeper than all ranks in a row. In a hypercube
// they are one deeper than it has sides. On direct wires each tree passes its part to one peer, and from there to all.
constexpr std::string_view kDisjointSource =
    "Edmonds, Edge-disjoint branchings, 1973; Johnsson and Ho, Optimum broadcasting and personalized communication in "
    "hypercubes, 1989";

// Whether the grid is a hypercube. A closed side of four is a square: two sides of a hypercube.
bool IsCubeOfSquares(const LevelView& view) {
  for (int i = 0; i < view.sides; ++i) {
    if (view.side[i] > 2 && !(view.side[i] == 4 && view.wrapped[i])) return false;
  }
  return true;
}

bool DisjointTreesApply(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kBroadcast) &&
         (IsWholeGrid(instance) || IsFlat(instance, Topology::kFullyConnected));
}
AlgorithmTime DisjointTrees(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const Ratio ranks = view.ranks;
  if (!IsGrid(view)) return PipelineTime(instance, {min(ranks - 1, 2), view.latency, view.injection});
  double ways = 0;
  for (int i = 0; i < view.sides; ++i) ways += view.wrapped[i] ? 2 : view.side[i] > 1 ? 1 : 0;
  const Ratio trees = OfBlock("Trees without common links", ways, view, "links of a corner");
  const Ratio depth = IsCubeOfSquares(view) ? min(ranks - 1, log2(ranks) + 1) : ranks - 1;
  return PipelineTime(instance,
                      {depth, view.latency, Figure("Rate of all trees", trees * view.link, "", kDisjointSource)});
}

}  // namespace

AlgorithmTime PipelineTime(const CollectiveInstance& instance, const ChunkPipeline& pipeline) {
  const auto [hops, alpha, rate] = pipeline;
  const Bytes bytes = instance.call.bytes;
  const Ratio chunks = ChunksOf(instance, (hops - 1) * (instance.view.levels[0].injection / rate), alpha),
              waits = instance.call.alpha_beta.overlaps ? Ratio() : chunks - 1;
  const Seconds latency = Figure("Steps of the first chunk, and of those after it", (hops + waits) * alpha);
  const Seconds transfer = Figure("Chunks in a pipeline", (hops + chunks - 1) * bytes / (chunks * rate));
  return Total(instance, latency, transfer);
}

std::span<const Algorithm> TreeAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"binary_tree", "One binary tree", TreeApplies, SingleTree},
      {"double_binary_tree", "Two binary trees, half the data each", TreeApplies, DoubleTree},
      {"binary_tree", "One binary tree", BroadcastApplies, BroadcastSingle},
      {"double_binary_tree", "Two binary trees, half the data each", BroadcastApplies, BroadcastDouble},
      {"disjoint_trees", "Trees without common links, in chunks", DisjointTreesApply, DisjointTrees},
  };
  return rows;
}

}  // namespace slipstick
