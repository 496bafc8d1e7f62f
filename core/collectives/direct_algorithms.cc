// All pairs exchange at once: fewest latencies, but contended links unless the topology is a switch.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kRoutesSource =
    "load of the busiest link under minimal routes; Dally and Towles, Principles and Practices of Interconnection "
    "Networks, 2004";

bool IsRouted(const CollectiveInstance& instance) {
  if (IsFlat(instance)) return instance.view.levels[0].level->topology != Topology::kDragonfly;
  return IsTwoLevels(instance) && !IsGrid(instance.view.levels[0]) && !IsGrid(instance.view.levels[1]);
}

// An exchange in which every rank sends `bytes`, including its own block: latency of the longest route, time on the
// busiest link.
struct Routes {
  Seconds latency, load;
};

Routes OnGrid(const CollectiveInstance& instance, bool one_way) {
  const LevelView& view = instance.view.levels[0];
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  double busiest = 0, hops = 0;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    const double is_odd = std::fmod(side, 2);
    // Bytes over one link of this side, per byte that a rank sends; each dimension carries all bytes.
    const double load = one_way           ? (side - 1) / 2
                        : view.wrapped[i] ? (side * side - is_odd) / (8 * side)
                                          : floor(side * side / 4) / side;
    busiest = max(busiest, load);
    hops += one_way || !view.wrapped[i] ? side - 1 : floor(side / 2);
  }
  const Ratio longest = OfBlock("Links of the longest route", hops, view);
  const Ratio bytes_per_byte = OfBlock("Bytes over the busiest link per byte sent by a rank", busiest, view);
  const Seconds latency = Figure("Longest route", longest * alpha, "", kRoutesSource);
  const Seconds load = Figure("Busiest link", bytes_per_byte * bytes / link, "", kRoutesSource);
  return {latency, load};
}

Routes OnLeaves(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Ratio narrowing = WireLoadOf(instance.view.levels[0]).detour;
  const Seconds latency = Figure("Up to the core and down", 2 * alpha, "", kRoutesSource);
  const Seconds load = Figure("Busiest link", narrowing * (ranks - 1) / ranks * bytes / link,
                              "a rank's own link, or its share of the leaf's uplinks", kRoutesSource);
  return {latency, load};
}

Routes OnSwitch(const CollectiveInstance& instance) {
  const auto [ranks, bytes, latency, link] = FlatGroupOf(instance);
  const Seconds load = Figure("Links of a rank", (ranks - 1) / ranks * bytes / link, "no shared routes", kRoutesSource);
  return {latency, load};
}

// Nodes on rails: data for another rail first cross the node's scale-up network.
Routes OnRails(const CollectiveInstance& instance) {
  const LevelView &inner = instance.view.levels[0], &outer = instance.view.levels[1];
  const Ratio ranks = instance.view.ranks, ranks_in_node = inner.ranks, nodes = outer.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = inner.injection;
  const BytesPerSecond nic = outer.injection / WireLoadOf(outer).detour;
  const Seconds alpha = inner.latency, rail_alpha = outer.latency;
  const Seconds latency = Figure("Longest route", alpha + rail_alpha, "", kRoutesSource);
  const Seconds load =
      Figure("Busiest link",
             max((ranks - ranks_in_node) / ranks * bytes / nic, (ranks_in_node - 1) * nodes / ranks * bytes / link),
             "a NIC, or the scale-up link that forwards to it", kRoutesSource);
  return {latency, load};
}

Routes OnDragonfly(const CollectiveInstance& instance) {
  const LevelView &local = instance.view.levels[0], &global = instance.view.levels[1];
  const Ratio ranks = instance.view.ranks, routers = local.ranks, groups = global.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = local.latency, global_alpha = global.latency;
  const BytesPerSecond local_link = local.link;
  const Ratio links =
      Figure("Global links per router", (groups - 1) / routers, "one per pair of groups", kDragonflySource);
  const BytesPerSecond global_link = global.injection / links;
  const Seconds latency = Figure("Longest route", 2 * alpha + global_alpha, "", kDragonflySource);
  const Seconds load = Figure(
      "Busiest link", max(routers * routers / global_link, (1 + 2 * links * routers) / local_link) * bytes / ranks,
      "between two groups, or between two gateways", kDragonflySource);
  return {latency, load};
}

Routes RoutesOf(const CollectiveInstance& instance) {
  if (IsTwoLevels(instance)) {
    return instance.view.levels[1].level->topology == Topology::kDragonfly ? OnDragonfly(instance) : OnRails(instance);
  }
  const LevelView& view = instance.view.levels[0];
  if (IsGrid(view)) return OnGrid(instance, false);
  if (ReachesCore(view)) return OnLeaves(instance);
  return OnSwitch(instance);
}

bool DirectApplies(const CollectiveInstance& instance) {
  const bool fits = Is(instance, CollectiveType::kAllToAll) || Is(instance, CollectiveType::kAllGather) ||
                    Is(instance, CollectiveType::kReduceScatter);
  return fits && IsRouted(instance);
}
AlgorithmTime DirectTime(const CollectiveInstance& instance) {
  const Routes routes = RoutesOf(instance);
  const Bytes reduced = instance.call.bytes / instance.view.ranks;
  return Total(instance, routes.latency, routes.load, Is(instance, CollectiveType::kReduceScatter) ? reduced : Bytes());
}

bool OneWayApplies(const CollectiveInstance& instance) { return DirectApplies(instance) && IsClosedRing(instance); }
AlgorithmTime OneWayTime(const CollectiveInstance& instance) {
  const Routes routes = OnGrid(instance, true);
  return Total(instance, routes.latency, routes.load);
}

bool TwoShotApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsFlat(instance) && IsRouted(instance);
}
AlgorithmTime TwoShotTime(const CollectiveInstance& instance) {
  const Routes routes = RoutesOf(instance);
  return Total(instance, 2 * routes.latency, 2 * routes.load, instance.call.bytes / instance.view.ranks);
}

bool OneShotApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) &&
         (IsSwitch(instance) || IsFlat(instance, Topology::kFullyConnected));
}
AlgorithmTime OneShotTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, latency, link] = FlatGroupOf(instance);
  const Seconds transfer = Figure("The whole buffer to every peer", (ranks - 1) * bytes / link, "", kRoutesSource);
  AlgorithmTime made = Total(instance, latency, transfer, (ranks - 1) * bytes);
  made.bytes = (ranks - 1) * bytes;
  return made;
}

bool PairwiseApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && IsSwitch(instance);
}
AlgorithmTime PairwiseTime(const CollectiveInstance& instance) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Seconds latency = Figure("One step per peer", (ranks - 1) * alpha);
  const Seconds transfer = Figure("Bytes through a rank's link", (ranks - 1) / ranks * bytes / link);
  return Total(instance, latency, transfer);
}

bool SendApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kSendReceive); }
AlgorithmTime SendTime(const CollectiveInstance& instance) {
  Seconds route;
  BytesPerSecond narrowest;
  for (int i = 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const BytesPerSecond rate = IsSwitch(view) ? view.injection : view.link;
    narrowest = i == 0 ? rate : min(narrowest, rate);
    route += view.latency;
  }
  const LevelView& first = instance.view.levels[0];
  const double around = static_cast<double>(first.level->size);
  const bool goes_both_ways =
      IsFlat(instance, Topology::kRing) && around > 2 && 2 * instance.call.alpha_beta.hops == around;
  const double hops = instance.call.alpha_beta.hops, ways = goes_both_ways ? 2 : 1;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = route;
  const BytesPerSecond link = narrowest;
  const Seconds latency = Figure("Links of the route", hops * alpha, "cut-through switching");
  const Seconds transfer =
      Figure("The message", bytes / (ways * link), "in both directions to the opposite rank of a ring");
  return Total(instance, latency, transfer);
}

}  // namespace

std::span<const Algorithm> DirectAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"direct", "All pairs at once", DirectApplies, DirectTime},
      {"direct_one_way", "All pairs at once, one direction around the ring", OneWayApplies, OneWayTime},
      {"two_shot", "Direct reduce-scatter and all-gather", TwoShotApplies, TwoShotTime},
      {"one_shot", "Every rank sends its buffer to all", OneShotApplies, OneShotTime},
      {"pairwise", "One peer after another", PairwiseApplies, PairwiseTime},
      {"send", "One message", SendApplies, SendTime},
  };
  return rows;
}

}  // namespace slipstick
