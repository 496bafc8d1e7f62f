// Level by level: reduce-scatter from the innermost level out, gather back; each level carries data reduced by the
// inner ones.
#include <array>

#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kHierarchySource =
    "Cho et al., BlueConnect: decomposing all-reduce for deep learning on heterogeneous network hierarchy, 2019";

// How the units of a level that switches join pass parts on: around a ring, or all pairs at once.
enum class Within { kRing, kDirect };

// Reduce-scatter or all-gather of a whole buffer on one level: steps, and seconds per byte.
struct LevelCost {
  Ratio hops = 0;
  SecondsPerByte load;
};
LevelCost CostOf(const LevelView& view, Within within) {
  LevelCost cost;
  if (!IsGrid(view)) {
    // Fully connected ranks exchange all parts at once, and so do the routers of a dragonfly.
    const bool at_once = within == Within::kDirect || view.level->topology == Topology::kFullyConnected ||
                         view.level->topology == Topology::kDragonfly;
    cost.hops = at_once ? (ReachesCore(view) ? Ratio(2) : WireLoadOf(view).hops) : view.ranks - 1;
    const Ratio narrowing = at_once ? WireLoadOf(view).detour : NarrowingOfRing(view);
    cost.load = (view.ranks - 1) / view.ranks * narrowing / view.injection;
    return cost;
  }
  double reduced = 1;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    cost.hops += side - 1;
    cost.load += (side - 1) / side / reduced / ((view.wrapped[i] ? 2 : 1) * view.link);
    reduced *= side;
  }
  return cost;
}

bool IsHierarchy(const CollectiveInstance& instance) {
  return instance.view.count >= 2 && !IsDragonflyOfGroups(instance);
}

bool HierarchyApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) && IsHierarchy(instance);
}

bool DirectHierarchyApplies(const CollectiveInstance& instance) {
  bool has_switch = false;
  for (int i = 0; i < instance.view.count; ++i) {
    const Topology topology = instance.view.levels[i].level->topology;
    has_switch |= topology == Topology::kSwitch || topology == Topology::kRail || topology == Topology::kFatTree;
  }
  return has_switch && HierarchyApplies(instance);
}

struct LevelTime {
  Seconds latency, transfer;
};
struct Levels {
  std::array<LevelTime, kMaxLevels> each{};
  Seconds latency, transfer;  // of all levels
};
Levels LevelsOf(const CollectiveInstance& instance, Within within) {
  const Ratio passes = PassesOf(instance);
  const Bytes bytes = instance.call.bytes;
  Levels levels;
  Ratio reduced = 1;
  for (int i = 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const LevelCost cost = CostOf(view, within);
    const Ratio hops = cost.hops, inner_ranks = reduced;
    const Seconds alpha = view.latency;
    const SecondsPerByte load = cost.load;
    const Seconds latency = Figure("Steps on this level", passes * hops * alpha, "", kHierarchySource);
    const Seconds transfer = Figure("Data left by the inner levels, over this level's links",
                                    passes * bytes / inner_ranks * load, "", kHierarchySource);
    levels.each[i] = {latency, transfer};
    levels.latency += latency;
    levels.transfer += transfer;
    reduced *= view.ranks;
  }
  return levels;
}

template <Within within>
AlgorithmTime InTurn(const CollectiveInstance& instance) {
  const Levels levels = LevelsOf(instance, within);
  return Total(instance, levels.latency, levels.transfer, ReducedBytes(instance));
}

// Pipelined in chunks, so that the levels overlap: one chunk passes all levels, and the others follow it at the pace of
// the slowest.
template <Within within>
AlgorithmTime Pipelined(const CollectiveInstance& instance) {
  const Levels levels = LevelsOf(instance, within);
  const AlphaBetaOptions& options = instance.call.alpha_beta;
  LevelTime slowest = levels.each[0];
  for (int i = 1; i < instance.view.count; ++i) {
    if (levels.each[i].transfer > slowest.transfer) slowest = levels.each[i];
  }
  Ratio chunks = options.chunks;
  if (chunks == 0) {
    const Ratio optimum = slowest.latency > Seconds()
                              ? sqrt(max(0.0, (levels.transfer - slowest.transfer) / slowest.latency))
                              : Ratio(kMaxChunks);
    chunks = max(1.0, min(kMaxChunks, floor(optimum + 0.5)));
  }
  LevelTime pace;  // of each later chunk
  for (int i = 0; i < instance.view.count; ++i) {
    const Seconds delay = options.overlaps ? Seconds() : levels.each[i].latency;
    const Seconds transfer = levels.each[i].transfer / chunks;
    if (delay + transfer > pace.latency + pace.transfer) pace = {delay, transfer};
  }
  const Seconds latency = Figure("Steps of the first chunk, and of the others on the slowest level",
                                 levels.latency + (chunks - 1) * pace.latency);
  const Seconds transfer = Figure("One chunk on all levels, and the others on the slowest",
                                  levels.transfer / chunks + (chunks - 1) * pace.transfer, "", kHierarchySource);
  return Total(instance, latency, transfer);
}

// One leader per node communicates over one NIC.
bool LeaderApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsTwoLevels(instance) && IsSwitch(instance.view.levels[0]) &&
         IsSwitch(instance.view.levels[1]);
}
AlgorithmTime Leader(const CollectiveInstance& instance) {
  const LevelView &inner = instance.view.levels[0], &outer = instance.view.levels[1];
  const Ratio ranks_in_node = inner.ranks, nodes = outer.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = inner.latency, node_alpha = outer.latency;
  const BytesPerSecond link = inner.injection, nic = outer.injection;
  const Seconds latency = Figure("To the leader and back, around the nodes", 4 * alpha + 2 * (nodes - 1) * node_alpha);
  const Seconds transfer =
      Figure("Reduce-scatter, gather, ring of leaders, scatter, all-gather",
             4 * (ranks_in_node - 1) / ranks_in_node * bytes / link + 2 * (nodes - 1) / nodes * bytes / nic);
  return Total(instance, latency, transfer);
}

// All-to-all level by level: each block first moves to the unit of the level that holds its rank.
bool LevelExchangeApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && (IsHierarchy(instance) || IsFlat(instance, Topology::kDragonfly));
}
AlgorithmTime Exchange(const CollectiveInstance& instance) {
  const Bytes bytes = instance.call.bytes;
  Seconds all_latencies, all_levels;
  for (int i = 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const WireLoad wires = WireLoadOf(view);
    all_latencies += wires.hops * view.latency;
    all_levels += wires.detour * (view.ranks - 1) / view.ranks * bytes / view.injection;
  }
  return Total(instance, all_latencies, all_levels);
}

// Reduce-scatter within the groups, all-reduce between groups, gather within the groups.
bool DragonflyApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsDragonflyOfGroups(instance);
}
AlgorithmTime Dragonfly(const CollectiveInstance& instance) {
  const LevelView &local = instance.view.levels[0], &global = instance.view.levels[1];
  const Ratio routers = local.ranks, groups = global.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = local.latency, global_alpha = global.latency;
  const BytesPerSecond local_link = local.link;
  const Ratio links =
      Figure("Global links of a router", (groups - 1) / routers, "one for each pair of groups", kDragonflySource);
  const BytesPerSecond global_link = global.injection / links;
  const Seconds latency =
      Figure("Longest routes, there and back", 2 * (3 * alpha + global_alpha), "", kDragonflySource);
  const Seconds transfer = Figure(
      "Inside the groups, then between groups",
      2 * bytes / routers * (1 / local_link + max(1 / (groups * global_link), 2 * links / (groups * local_link))), "",
      kDragonflySource);
  return Total(instance, latency, transfer);
}

}  // namespace

std::span<const Algorithm> HierarchicalAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"hierarchical", "Level by level", HierarchyApplies, InTurn<Within::kRing>},
      {"hierarchical_pipelined", "Level by level, in chunks", HierarchyApplies, Pipelined<Within::kRing>},
      {"hierarchical_direct", "Level by level, all pairs of a level at once", DirectHierarchyApplies,
       InTurn<Within::kDirect>},
      {"hierarchical_direct_pipelined", "Level by level, all pairs of a level at once, in chunks",
       DirectHierarchyApplies, Pipelined<Within::kDirect>},
      {"leader", "One leader and one NIC per node", LeaderApplies, Leader},
      {"hierarchical_exchange", "Exchange level by level", LevelExchangeApplies, Exchange},
      {"dragonfly", "Group by group", DragonflyApplies, Dragonfly},
  };
  return rows;
}

}  // namespace slipstick
