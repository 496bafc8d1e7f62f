// Everyone sends to everyone at once: fewest latencies, and on anything but a switch contended links.
#include "core/collectives/ideal.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource =
    "load of the busiest link under minimal routes; Dally and Towles, Principles and Practices of Interconnection Networks, 2004";
constexpr std::string_view kDragonflySource = "Kim et al., Technology-driven, highly-scalable dragonfly topology, 2008";

bool IsRouted(const Problem& problem) {
  if (IsFlat(problem)) return problem.view.levels[0].level->topology != Topology::kDragonfly;
  return IsTwoLevels(problem) && !IsGrid(problem.view.levels[0]) && !IsGrid(problem.view.levels[1]);
}

// The busiest link of an exchange in which every rank sends `bytes`, its own share included: seconds on it, and the
// latency of the longest route.
struct Routes {
  Seconds latency, load;
};

Routes OnGrid(const Problem& problem, bool one_way, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.link;
  double busiest = 0, hops = 0;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    const double is_odd = std::fmod(side, 2);
    // Bytes over one link of this side, over what a rank sends: each dimension carries all of them.
    const double load = one_way ? (side - 1) / 2 : view.wrapped[i] ? (side * side - is_odd) / (8 * side) : floor(side * side / 4) / side;
    busiest = max(busiest, load);
    hops += one_way || !view.wrapped[i] ? side - 1 : floor(side / 2);
  }
  FIGURE(trace, latency, hops * alpha, (Note{"Longest route", "", kSource}), hops, alpha);
  FIGURE(trace, load, busiest * bytes / link, (Note{"Busiest link", "busiest: bytes over it, over what a rank sends", kSource}), busiest,
         bytes, link);
  return {latency, load};
}

Routes OnLeaves(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = view.ranks, leaf = view.leaf, oversubscription = view.level->oversubscription;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = view.level->latency;
  const BytesPerSecond link = view.injection;
  FIGURE(trace, latency, 2 * alpha, (Note{"Up to the core and down", "", kSource}), alpha);
  FIGURE(trace, load, max((ranks - 1) / ranks, oversubscription * (ranks - leaf) / ranks) * bytes / link,
         (Note{"Busiest link", "a rank's own, or its share of the leaf's uplinks", kSource}), ranks, oversubscription, leaf, bytes, link);
  return {latency, load};
}

Routes OnSwitch(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds latency = view.level->latency;
  trace.Input("latency", latency, "cluster.networks.0.latency");
  FIGURE(trace, load, (ranks - 1) / ranks * bytes / link, (Note{"A rank's own links", "no route is shared", kSource}), ranks, bytes, link);
  return {latency, load};
}

// Nodes of a scale-up network under rails: what is bound for another rail crosses the node's network first.
Routes OnRails(const Problem& problem, Trace& trace) {
  const LevelView &inner = problem.view.levels[0], &outer = problem.view.levels[1];
  const double ranks = problem.view.ranks, ranks_in_node = inner.ranks, nodes = outer.ranks;
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond link = inner.injection;
  const BytesPerSecond nic = outer.injection / (outer.level->topology == Topology::kFatTree ? outer.level->oversubscription : 1);
  const Seconds alpha = inner.level->latency, rail_alpha = outer.level->latency;
  FIGURE(trace, latency, alpha + rail_alpha, (Note{"Longest route", "", kSource}), alpha, rail_alpha);
  FIGURE(trace, load, max((ranks - ranks_in_node) / ranks * bytes / nic, (ranks_in_node - 1) * nodes / ranks * bytes / link),
         (Note{"Busiest link", "a NIC, or the scale-up link that forwards to it", kSource}), ranks, ranks_in_node, bytes, nic, nodes, link);
  return {latency, load};
}

Routes OnDragonfly(const Problem& problem, Trace& trace) {
  const LevelView &local = problem.view.levels[0], &global = problem.view.levels[1];
  const double ranks = problem.view.ranks, routers = local.ranks, groups = global.ranks;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = local.level->latency, global_alpha = global.level->latency;
  const BytesPerSecond local_link = local.link;
  FIGURE(trace, links, (groups - 1) / routers, (Note{"Global links of a router", "one for each pair of groups", kDragonflySource}), groups,
         routers);
  const BytesPerSecond global_link = global.injection / links;
  FIGURE(trace, latency, 2 * alpha + global_alpha, (Note{"Longest route", "", kDragonflySource}), alpha, global_alpha);
  FIGURE(trace, load, max(routers * routers / global_link, (1 + 2 * links * routers) / local_link) * bytes / ranks,
         (Note{"Busiest link", "of a pair of groups, or between two gateways", kDragonflySource}), routers, global_link, links, local_link,
         bytes, ranks);
  return {latency, load};
}

Routes RoutesOf(const Problem& problem, Trace& trace) {
  if (IsTwoLevels(problem)) {
    return problem.view.levels[1].level->topology == Topology::kDragonfly ? OnDragonfly(problem, trace) : OnRails(problem, trace);
  }
  const LevelView& view = problem.view.levels[0];
  if (IsGrid(view)) return OnGrid(problem, false, trace);
  if (view.level->topology == Topology::kFatTree && view.leaf < view.ranks) return OnLeaves(problem, trace);
  return OnSwitch(problem, trace);
}

bool DirectApplies(const Problem& problem) {
  const bool fits = Is(problem, Pattern::kAllToAll) || Is(problem, Pattern::kAllGather) || Is(problem, Pattern::kReduceScatter);
  return fits && IsRouted(problem);
}
AlgorithmTime DirectTime(const Problem& problem, Trace& trace) {
  const Routes routes = RoutesOf(problem, trace);
  const Bytes reduced = problem.call.bytes / problem.view.ranks;
  return Total(problem, routes.latency, routes.load, Is(problem, Pattern::kReduceScatter) ? reduced : Bytes(), trace);
}

bool OneWayApplies(const Problem& problem) { return DirectApplies(problem) && IsClosedRing(problem); }
AlgorithmTime OneWayTime(const Problem& problem, Trace& trace) {
  const Routes routes = OnGrid(problem, true, trace);
  return Total(problem, routes.latency, routes.load, Bytes(), trace);
}

bool TwoShotApplies(const Problem& problem) { return Is(problem, Pattern::kAllReduce) && IsFlat(problem) && IsRouted(problem); }
AlgorithmTime TwoShotTime(const Problem& problem, Trace& trace) {
  const Routes routes = RoutesOf(problem, trace);
  return Total(problem, 2 * routes.latency, 2 * routes.load, problem.call.bytes / problem.view.ranks, trace);
}

bool OneShotApplies(const Problem& problem) {
  return Is(problem, Pattern::kAllReduce) && (IsSwitch(problem) || IsFlat(problem, Topology::kFullyConnected));
}
AlgorithmTime OneShotTime(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds latency = view.level->latency;
  trace.Input("latency", latency, "cluster.networks.0.latency");
  FIGURE(trace, transfer, (ranks - 1) * bytes / link, (Note{"The whole buffer to every peer", "", kSource}), ranks, bytes, link);
  AlgorithmTime made = Total(problem, latency, transfer, (ranks - 1) * bytes, trace);
  made.bytes = (ranks - 1) * bytes;
  return made;
}

bool PairwiseApplies(const Problem& problem) { return Is(problem, Pattern::kAllToAll) && IsSwitch(problem); }
AlgorithmTime PairwiseTime(const Problem& problem, Trace& trace) {
  const LevelView& view = problem.view.levels[0];
  const double ranks = view.ranks;
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond link = view.injection;
  const Seconds alpha = view.level->latency;
  FIGURE(trace, latency, (ranks - 1) * alpha, (Note{"A step for each peer"}), ranks, alpha);
  FIGURE(trace, transfer, (ranks - 1) / ranks * bytes / link, (Note{"Bytes through a rank's link"}), ranks, bytes, link);
  return Total(problem, latency, transfer, Bytes(), trace);
}

bool SendApplies(const Problem& problem) { return Is(problem, Pattern::kSendReceive); }
AlgorithmTime SendTime(const Problem& problem, Trace& trace) {
  Seconds route;
  BytesPerSecond narrowest;
  for (int i = 0; i < problem.view.count; ++i) {
    const LevelView& view = problem.view.levels[i];
    const BytesPerSecond rate = IsSwitch(view) ? view.injection : view.link;
    narrowest = i == 0 ? rate : min(narrowest, rate);
    route += view.level->latency;
  }
  const LevelView& first = problem.view.levels[0];
  const bool goes_both_ways = IsFlat(problem, Topology::kRing) && 2 * problem.call.messages.hops == static_cast<double>(first.level->size);
  const double hops = problem.call.messages.hops, ways = goes_both_ways ? 2 : 1;
  const Bytes bytes = problem.call.bytes;
  const Seconds alpha = route;
  const BytesPerSecond link = narrowest;
  FIGURE(trace, latency, hops * alpha, (Note{"Links of the route", "the message is cut through"}), hops, alpha);
  FIGURE(trace, transfer, bytes / (ways * link), (Note{"The message", "both ways round to the opposite rank of a ring"}), bytes, ways,
         link);
  return Total(problem, latency, transfer, Bytes(), trace);
}

}  // namespace

const std::vector<Algorithm>& DirectAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"direct", "Every pair at once", kSource, Transport::kIdeal, DirectApplies, DirectTime},
      {"direct_one_way", "Every pair at once, one way round the ring", kSource, Transport::kIdeal, OneWayApplies, OneWayTime},
      {"two_shot", "Direct reduce-scatter and all-gather", kSource, Transport::kIdeal, TwoShotApplies, TwoShotTime},
      {"one_shot", "Every rank sends its buffer to all", kSource, Transport::kIdeal, OneShotApplies, OneShotTime},
      {"pairwise", "One peer after the other", kSource, Transport::kIdeal, PairwiseApplies, PairwiseTime},
      {"send", "One message", kSource, Transport::kIdeal, SendApplies, SendTime},
  };
  return rows;
}

}  // namespace slipstick
