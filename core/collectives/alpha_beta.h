// What the closed forms of collectives share.
//
// Symbols: ranks, bytes (as nccl-tests counts them), alpha: latency of one message, link: bandwidth of one link in one
// direction. Contended routes: the busiest link's load, and the latency of the longest route on top, which is the upper
// end of what a simulation of the messages gives.
#pragma once

#include "core/collectives/algorithm.h"

namespace slipstick {

inline bool IsPowerOfTwo(double x) { return x >= 1 && std::exp2(floor(log2(x) + 0.5)) == x; }

inline bool Is(const CollectiveInstance& instance, CollectiveType type) { return instance.call.type == type; }
inline bool IsReductionOrGather(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) || Is(instance, CollectiveType::kAllGather) ||
         Is(instance, CollectiveType::kReduceScatter);
}
// The group lies within one level.
inline bool IsFlat(const CollectiveInstance& instance) { return instance.view.count == 1; }
inline bool IsFlat(const CollectiveInstance& instance, Topology topology) {
  return IsFlat(instance) && instance.view.levels[0].level->topology == topology;
}
inline bool IsTwoLevels(const CollectiveInstance& instance) { return instance.view.count == 2; }
inline bool IsGrid(const LevelView& view) {
  const Topology topology = view.level->topology;
  return topology == Topology::kRing || topology == Topology::kMesh || topology == Topology::kTorus;
}
// One stage of switch: every rank reaches every other at full rate. A fat tree of a single leaf is one.
inline bool IsSwitch(const LevelView& view) {
  const Topology topology = view.level->topology;
  return topology == Topology::kSwitch || topology == Topology::kRail || (topology == Topology::kFatTree && view.leaf >= view.ranks);
}
inline bool IsSwitch(const CollectiveInstance& instance) { return IsFlat(instance) && IsSwitch(instance.view.levels[0]); }
// A ring, or a side of a torus that closes.
inline bool IsClosedRing(const CollectiveInstance& instance) {
  return IsFlat(instance) && IsGrid(instance.view.levels[0]) && instance.view.levels[0].side[0] == instance.view.ranks &&
         instance.view.levels[0].wrapped[0];
}

inline bool HasDragonfly(const CollectiveInstance& instance) {
  for (int i = 0; i < instance.view.count; ++i) {
    if (instance.view.levels[i].level->topology == Topology::kDragonfly) return true;
  }
  return false;
}

// Names of the levels' figures in an explanation.
inline constexpr std::array<std::string_view, kMaxLevels> kLevelScopes{"level_0", "level_1", "level_2", "level_3"};

// All-reduce moves what an all-gather or reduce-scatter moves, twice.
inline double PassesOf(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kAllReduce) ? 2 : 1; }
inline bool Reduces(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) || Is(instance, CollectiveType::kReduceScatter);
}

// Adds the parts up, with the time that ranks take to add incoming bytes.
inline AlgorithmTime Total(const CollectiveInstance& instance, Seconds latency, Seconds transfer, Bytes reduced, Trace& trace) {
  const SecondsPerByte reduction = instance.call.alpha_beta.reduction;
  if (reduction > SecondsPerByte()) {
    FIGURE(trace, time, latency + transfer + reduced * reduction, (Note{"Latency, transfer and reduction"}), latency, transfer, reduced,
           reduction);
    return {time, latency, std::nullopt};
  }
  FIGURE(trace, time, latency + transfer, (Note{"Latency and transfer"}), latency, transfer);
  return {time, latency, std::nullopt};
}

}  // namespace slipstick
