// Rings: every rank passes pieces to its neighbor.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kRingSource =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009; Thakur et al., 2005";

// One step of a ring in rank order: latency of the longest hop, rate of the slowest link.
struct Hop {
  Seconds alpha;
  BytesPerSecond link;
  bool exists = true;
};
Hop HopOf(const GroupView& view) {
  Hop hop;
  Ratio inside = 1;  // ranks of the group in each unit of the level
  for (int i = 0; i < view.count; ++i) {
    const LevelView& at = view.levels[i];
    BytesPerSecond rate = IsSwitch(at) ? at.injection : at.link;
    Seconds alpha = at.latency;
    if (ReachesCore(at)) {
      alpha = 2 * alpha;  // up to the core and down
      rate = rate / NarrowingOfRing(at, inside);
    }
    if (at.level->topology == Topology::kDragonfly) {
      // To the gateway, over the global link, from the gateway: the local link carries two flows.
      alpha = alpha + view.levels[0].latency;
      hop.link = hop.link / 2;
      rate = max(rate, hop.link);
    }
    if (IsGrid(at) && !at.wrapped[0]) {
      // A Hamiltonian cycle needs a closed side, or an even side next to another one.
      bool has_cycle = at.ranks <= 2;
      for (int side = 0; side < at.sides; ++side)
        has_cycle |= at.wrapped[side] || (at.sides > 1 && std::fmod(at.side[side], 2) == 0);
      hop.exists &= has_cycle;
    }
    hop.alpha += alpha;
    hop.link = i == 0 ? rate : min(hop.link, rate);
    inside *= at.ranks;
  }
  return hop;
}

bool RingApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && HopOf(instance.view).exists;
}
AlgorithmTime RingTime(const CollectiveInstance& instance) {
  const Hop hop = HopOf(instance.view);
  const Ratio ranks = instance.view.ranks, passes = PassesOf(instance);
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = hop.alpha;
  const BytesPerSecond link = hop.link;
  const Seconds latency = Figure("Steps around the ring", passes * (ranks - 1) * alpha, "", kRingSource);
  const Seconds transfer =
      Figure("Bytes through a rank's link", passes * (ranks - 1) / ranks * bytes / link, "", kRingSource);
  return Total(instance, latency, transfer, ReducedBytes(instance));
}

// A line is folded into a ring: the only link of an end rank carries all data twice.
bool LineApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && IsFlat(instance) && IsGrid(instance.view.levels[0]) &&
         !HopOf(instance.view).exists && instance.view.levels[0].side[0] == instance.view.ranks;
}

bool BothWaysApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && IsClosedRing(instance);
}
AlgorithmTime BothWaysTime(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const Ratio ranks = instance.view.ranks, passes = PassesOf(instance);
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  const Seconds latency = Figure("Steps around the ring", passes * (ranks - 1) * alpha, "", kRingSource);
  const Seconds transfer =
      Figure("Half the bytes in each direction", passes * (ranks - 1) / ranks * bytes / (2 * link), "", kRingSource);
  return Total(instance, latency, transfer, ReducedBytes(instance) / 2);
}

// All ranks in a row, which pass the buffer on in chunks. A line without a closing link is enough.
bool ChainApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kBroadcast); }
AlgorithmTime ChainTime(const CollectiveInstance& instance) {
  const Hop hop = HopOf(instance.view);
  return PipelineTime(instance, {instance.view.ranks - 1, hop.alpha, hop.link});
}

// One ring per rank of a node, each crossing between nodes on its own rail.
bool RailRingsApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && IsTwoLevels(instance) &&
         instance.view.levels[1].level->topology == Topology::kRail && IsSwitch(instance.view.levels[0]) &&
         std::fmod(instance.view.levels[1].ranks.base(), instance.view.levels[0].ranks.base()) == 0;
}
AlgorithmTime RailRingsTime(const CollectiveInstance& instance) {
  const LevelView &node = instance.view.levels[0], &rail = instance.view.levels[1];
  const Ratio ranks = instance.view.ranks, passes = PassesOf(instance), rings = node.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = node.latency, rail_alpha = rail.latency;
  const BytesPerSecond link = node.injection, nic = rail.injection;
  const Bytes piece = Figure("Bytes per step of one ring", bytes / (rings * ranks));
  const Seconds step = Figure("A step, paced by the slower hop",
                              max(rail_alpha + piece / nic, alpha + (rings - 1) * piece / link), "", kRingSource);
  const Seconds latency = Figure("Steps around the rings", passes * (ranks - 1) * max(rail_alpha, alpha));
  const Seconds transfer = Figure("Transfer time", passes * (ranks - 1) * step - latency);
  return Total(instance, latency, transfer, ReducedBytes(instance));
}

}  // namespace

std::span<const Algorithm> RingAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"ring", "One ring in rank order", RingApplies, RingTime},
      {"line", "A pipelined line", LineApplies, RingTime},
      {"bidirectional_ring", "Two opposite rings, half the data each", BothWaysApplies, BothWaysTime},
      {"chain", "Pipelined chain", ChainApplies, ChainTime},
      {"rail_rings", "A ring for each rail", RailRingsApplies, RailRingsTime},
  };
  return rows;
}

}  // namespace slipstick
