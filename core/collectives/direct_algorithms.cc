// All pairs exchange at once: fewest latencies, but contended links on anything but a switch.
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

// An exchange in which every rank sends `bytes`, its own block included: latency of the longest route, time on the
// busiest link.
struct Routes {
  Seconds latency, load;
};

Routes OnGrid(const CollectiveInstance& instance, bool one_way, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.link;
  double busiest = 0, hops = 0;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    const double is_odd = std::fmod(side, 2);
    // Bytes over one link of this side per byte sent by a rank; each dimension carries all of them.
    const double load = one_way           ? (side - 1) / 2
                        : view.wrapped[i] ? (side * side - is_odd) / (8 * side)
                                          : floor(side * side / 4) / side;
    busiest = max(busiest, load);
    hops += one_way || !view.wrapped[i] ? side - 1 : floor(side / 2);
  }
  FIGURE(trace, latency, hops * alpha, (Note{"Longest route", "", kRoutesSource}), hops, alpha);
  FIGURE(trace, load, busiest * bytes / link,
         (Note{"Busiest link", "busiest: bytes over it per byte sent by a rank", kRoutesSource}), busiest, bytes, link);
  return {latency, load};
}

Routes OnLeaves(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks, leaf = view.leaf, oversubscription = view.level->oversubscription;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = view.latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, 2 * alpha, (Note{"Up to the core and down", "", kRoutesSource}), alpha);
  FIGURE(trace, load, max((ranks - 1) / ranks, oversubscription * (ranks - leaf) / ranks) * bytes / link,
         (Note{"Busiest link", "a rank's own link, or its share of the leaf's uplinks", kRoutesSource}), ranks,
         oversubscription, leaf, bytes, link);
  return {latency, load};
}

Routes OnSwitch(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds latency = view.latency;
  trace.Input("latency", latency, "cluster.networks.0.latency");
  FIGURE(trace, load, (ranks - 1) / ranks * bytes / link, (Note{"Links of a rank", "no shared routes", kRoutesSource}),
         ranks, bytes, link);
  return {latency, load};
}

// Nodes under rails: data for another rail crosses the node's scale-up network first.
Routes OnRails(const CollectiveInstance& instance, Trace& trace) {
  const LevelView &inner = instance.view.levels[0], &outer = instance.view.levels[1];
  const double ranks = instance.view.ranks, ranks_in_node = inner.ranks, nodes = outer.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = inner.injection;
  const BytesPerSecond nic =
      outer.injection / (outer.level->topology == Topology::kFatTree ? outer.level->oversubscription : Ratio(1));
  const Seconds alpha = inner.latency, rail_alpha = outer.latency;
  FIGURE(trace, latency, alpha + rail_alpha, (Note{"Longest route", "", kRoutesSource}), alpha, rail_alpha);
  FIGURE(trace, load,
         max((ranks - ranks_in_node) / ranks * bytes / nic, (ranks_in_node - 1) * nodes / ranks * bytes / link),
         (Note{"Busiest link", "a NIC, or the scale-up link that forwards to it", kRoutesSource}), ranks, ranks_in_node,
         bytes, nic, nodes, link);
  return {latency, load};
}

Routes OnDragonfly(const CollectiveInstance& instance, Trace& trace) {
  const LevelView &local = instance.view.levels[0], &global = instance.view.levels[1];
  const double ranks = instance.view.ranks, routers = local.ranks, groups = global.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds alpha = local.latency, global_alpha = global.latency;
  const BytesPerSecond local_link = local.link;
  FIGURE(trace, links, (groups - 1) / routers,
         (Note{"Global links per router", "one per pair of groups", kDragonflySource}), groups, routers);
  const BytesPerSecond global_link = global.injection / links;
  FIGURE(trace, latency, 2 * alpha + global_alpha, (Note{"Longest route", "", kDragonflySource}), alpha, global_alpha);
  FIGURE(trace, load, max(routers * routers / global_link, (1 + 2 * links * routers) / local_link) * bytes / ranks,
         (Note{"Busiest link", "between two groups, or between two gateways", kDragonflySource}), routers, global_link,
         links, local_link, bytes, ranks);
  return {latency, load};
}

Routes RoutesOf(const CollectiveInstance& instance, Trace& trace) {
  if (IsTwoLevels(instance)) {
    return instance.view.levels[1].level->topology == Topology::kDragonfly ? OnDragonfly(instance, trace)
                                                                           : OnRails(instance, trace);
  }
  const LevelView& view = instance.view.levels[0];
  if (IsGrid(view)) return OnGrid(instance, false, trace);
  if (view.level->topology == Topology::kFatTree && view.leaf < view.ranks) return OnLeaves(instance, trace);
  return OnSwitch(instance, trace);
}

bool DirectApplies(const CollectiveInstance& instance) {
  const bool fits = Is(instance, CollectiveType::kAllToAll) || Is(instance, CollectiveType::kAllGather) ||
                    Is(instance, CollectiveType::kReduceScatter);
  return fits && IsRouted(instance);
}
AlgorithmTime DirectTime(const CollectiveInstance& instance, Trace& trace) {
  const Routes routes = RoutesOf(instance, trace);
  const Bytes reduced = instance.call.bytes / instance.view.ranks;
  return Total(instance, routes.latency, routes.load, Is(instance, CollectiveType::kReduceScatter) ? reduced : Bytes(),
               trace);
}

bool OneWayApplies(const CollectiveInstance& instance) { return DirectApplies(instance) && IsClosedRing(instance); }
AlgorithmTime OneWayTime(const CollectiveInstance& instance, Trace& trace) {
  const Routes routes = OnGrid(instance, true, trace);
  return Total(instance, routes.latency, routes.load, Bytes(), trace);
}

bool TwoShotApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsFlat(instance) && IsRouted(instance);
}
AlgorithmTime TwoShotTime(const CollectiveInstance& instance, Trace& trace) {
  const Routes routes = RoutesOf(instance, trace);
  return Total(instance, 2 * routes.latency, 2 * routes.load, instance.call.bytes / instance.view.ranks, trace);
}

bool OneShotApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) &&
         (IsSwitch(instance) || IsFlat(instance, Topology::kFullyConnected));
}
AlgorithmTime OneShotTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds latency = view.latency;
  trace.Input("latency", latency, "cluster.networks.0.latency");
  FIGURE(trace, transfer, (ranks - 1) * bytes / link, (Note{"The whole buffer to every peer", "", kRoutesSource}),
         ranks, bytes, link);
  AlgorithmTime made = Total(instance, latency, transfer, (ranks - 1) * bytes, trace);
  made.bytes = (ranks - 1) * bytes;
  return made;
}

bool PairwiseApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && IsSwitch(instance);
}
AlgorithmTime PairwiseTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds alpha = view.latency;
  FIGURE(trace, latency, (ranks - 1) * alpha, (Note{"One step per peer"}), ranks, alpha);
  FIGURE(trace, transfer, (ranks - 1) / ranks * bytes / link, (Note{"Bytes through a rank's link"}), ranks, bytes,
         link);
  return Total(instance, latency, transfer, Bytes(), trace);
}

bool SendApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kSendReceive); }
AlgorithmTime SendTime(const CollectiveInstance& instance, Trace& trace) {
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
  FIGURE(trace, latency, hops * alpha, (Note{"Links of the route", "cut-through switching"}), hops, alpha);
  FIGURE(trace, transfer, bytes / (ways * link),
         (Note{"The message", "in both directions to the opposite rank of a ring"}), bytes, ways, link);
  return Total(instance, latency, transfer, Bytes(), trace);
}

}  // namespace

const std::vector<Algorithm>& DirectAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"direct", "All pairs at once", kRoutesSource, CollectiveLibrary::kAnalytic, DirectApplies, DirectTime},
      {"direct_one_way", "All pairs at once, one direction around the ring", kRoutesSource,
       CollectiveLibrary::kAnalytic, OneWayApplies, OneWayTime},
      {"two_shot", "Direct reduce-scatter and all-gather", kRoutesSource, CollectiveLibrary::kAnalytic, TwoShotApplies,
       TwoShotTime},
      {"one_shot", "Every rank sends its buffer to all", kRoutesSource, CollectiveLibrary::kAnalytic, OneShotApplies,
       OneShotTime},
      {"pairwise", "One peer after another", kRoutesSource, CollectiveLibrary::kAnalytic, PairwiseApplies,
       PairwiseTime},
      {"send", "One message", kRoutesSource, CollectiveLibrary::kAnalytic, SendApplies, SendTime},
  };
  return rows;
}

}  // namespace slipstick
