// Shared by the alpha-beta closed forms of collectives.
//
// Symbols: ranks; bytes (counted as in nccl-tests); alpha: latency per message; link: bandwidth per link, one
// direction. On contended routes: the load of the busiest link plus the latency of the longest route, an upper bound on
// a simulation of the messages.
#pragma once

#include <string_view>

#include "core/base/figure.h"
#include "core/collectives/algorithm.h"

namespace slipstick {

// Source cited by two files of algorithms.
inline constexpr std::string_view kDragonflySource =
    "Kim et al., Technology-driven, highly-scalable dragonfly topology, 2008";

inline bool IsPowerOfTwo(double x) { return x >= 1 && std::exp2(floor(log2(x) + 0.5)) == x; }

// Whether the group lies within one level.
inline bool IsFlat(const CollectiveInstance& instance) { return instance.view.count == 1; }
inline bool IsFlat(const CollectiveInstance& instance, Topology topology) {
  return IsFlat(instance) && instance.view.levels[0].level->topology == topology;
}
inline bool IsTwoLevels(const CollectiveInstance& instance) { return instance.view.count == 2; }
// Whether the level is one switch stage, where every rank reaches every other at full rate; so is a one-leaf fat tree.
inline bool IsSwitch(const LevelView& view) {
  const Topology topology = view.level->topology;
  return topology == Topology::kSwitch || topology == Topology::kRail ||
         (topology == Topology::kFatTree && view.leaf >= view.ranks);
}
inline bool IsSwitch(const CollectiveInstance& instance) {
  return IsFlat(instance) && IsSwitch(instance.view.levels[0]);
}
// Whether ranks reach each other at full rate over one switch, or up to the core of a fat tree and down.
inline bool IsNonBlocking(const CollectiveInstance& instance) {
  if (!IsFlat(instance)) return false;
  const NetworkLevel& level = *instance.view.levels[0].level;
  return IsSwitch(instance) || (level.topology == Topology::kFatTree && level.oversubscription == 1);
}
// Latency of the longest way between two ranks that switches join.
inline Seconds AlphaOf(const LevelView& view) { return ReachesCore(view) ? 2 * view.latency : view.latency; }

// Whether the group is a ring, or a wrapped side of a torus.
inline bool IsClosedRing(const CollectiveInstance& instance) {
  return IsFlat(instance) && IsGrid(instance.view.levels[0]) &&
         instance.view.levels[0].side[0] == instance.view.ranks && instance.view.levels[0].wrapped[0];
}

// Whether the group is a whole grid, and fills the block of its sides.
inline bool IsWholeGrid(const CollectiveInstance& instance) {
  if (!IsFlat(instance) || !IsGrid(instance.view.levels[0])) return false;
  const LevelView& view = instance.view.levels[0];
  double ranks = 1;
  for (int i = 0; i < view.sides; ++i) ranks *= view.side[i];
  return ranks == view.ranks;
}
// Whether the level is a hypercube, with neighbors at every power of two. So is a torus or mesh with all sides of two.
inline bool IsCube(const CollectiveInstance& instance) {
  if (!IsWholeGrid(instance)) return false;
  const LevelView& view = instance.view.levels[0];
  for (int i = 0; i < view.sides; ++i) {
    if (view.side[i] != 2) return false;
  }
  return true;
}
// Whether partners at powers of two reach each other without sharing a link: through a switch, or over their own link.
inline bool JoinsPowersOfTwo(const CollectiveInstance& instance) {
  if (IsCube(instance)) return true;
  return IsPowerOfTwo(instance.view.ranks) && (IsSwitch(instance) || IsFlat(instance, Topology::kFullyConnected));
}

// A group on one level, with the symbols of the closed forms; `link`: bandwidth of all links of a rank.
struct FlatGroup {
  Ratio ranks;
  Bytes bytes;
  Seconds alpha;
  BytesPerSecond link;
};
inline FlatGroup FlatGroupOf(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  return {view.ranks, instance.call.bytes, view.latency, view.injection};
}
// The same for ranks that exchange with one partner at a time.
inline FlatGroup GroupOfPartners(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  return {instance.view.ranks, instance.call.bytes, view.latency, IsSwitch(view) ? view.injection : view.link};
}

// Whether the groups of a dragonfly and the network between them are separate levels. A dragonfly in one level is
// balanced: exchanges run at full rate, over up to three links.
inline bool IsDragonflyOfGroups(const CollectiveInstance& instance) {
  return IsTwoLevels(instance) && instance.view.levels[1].level->topology == Topology::kDragonfly &&
         instance.view.levels[0].level->topology == Topology::kFullyConnected;
}

// Number of chunks of a pipelined buffer: as requested, or the optimum between the latency `each` per chunk and a
// pipeline fill of `fill` whole buffers, at the full rate of a rank.
inline constexpr double kMaxChunks = 1024;
inline Ratio ChunksOf(const CollectiveInstance& instance, Ratio fill, Seconds each) {
  const Count requested = instance.call.alpha_beta.chunks;
  if (requested > 0) return requested;
  if (!(each > Seconds())) return kMaxChunks;
  const Ratio optimum = sqrt(max(0.0, fill * (instance.call.bytes / instance.view.levels[0].injection / each)));
  return max(1.0, min(kMaxChunks, floor(optimum + 0.5)));
}

inline bool Reduces(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) || Is(instance, CollectiveType::kReduceScatter);
}
// What a rank adds up, if the collective reduces: every part but its own.
inline Bytes ReducedBytes(const CollectiveInstance& instance) {
  const Ratio ranks = instance.view.ranks;
  return Reduces(instance) ? (ranks - 1) / ranks * instance.call.bytes : Bytes();
}

// Steps and bytes of a pipeline: the first chunk takes `hops` steps, and each other one arrives a step later.
struct ChunkPipeline {
  Ratio hops;
  Seconds alpha;
  BytesPerSecond rate;  // of the whole buffer through a step
};
AlgorithmTime PipelineTime(const CollectiveInstance& instance, const ChunkPipeline& pipeline);

// The sum of both times and the compute time of the reduction.
inline AlgorithmTime Total(const CollectiveInstance& instance, Seconds latency, Seconds transfer, Bytes reduced = {}) {
  const SecondsPerByte reduction = instance.call.alpha_beta.reduction;
  if (reduction > SecondsPerByte()) {
    const Seconds time = Figure("Latency, transfer and reduction", latency + transfer + reduced * reduction);
    return {time, latency, std::nullopt};
  }
  const Seconds time = Figure("Latency and transfer", latency + transfer);
  return {time, latency, std::nullopt};
}

}  // namespace slipstick
