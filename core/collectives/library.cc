// What communication libraries (NCCL, RCCL and their kin) do: two protocols over rings, a tree between nodes, in-network
// reduction, and direct exchange.
#include <array>

#include "core/collectives/algorithm.h"

namespace slipstick {
namespace {

constexpr std::string_view kTables =
    "form and constants fitted to NCCL tables of ai-dynamo/aiconfigurator at 095f58a, 1,008 cells of A100, H100, H200, B200, GB200";

bool IsReduction(Pattern pattern) {
  return pattern == Pattern::kAllReduce || pattern == Pattern::kAllGather || pattern == Pattern::kReduceScatter;
}

// The scale-up domain of a group, and the network beyond it.
struct Inner {
  double ranks = 1;
  BytesPerSecond bandwidth;  // what a library can use of it
  BytesPerSecond stated;     // what the level states
  Seconds setup, step;
  double long_rate = 1, exchange_rate = 1;
  double steps = 0;  // of an all-gather over the domain
  const FabricConstants* fabric = nullptr;
};
struct Outer {
  double nodes = 1;
  BytesPerSecond bandwidth;  // of the narrowest level, a device
  Seconds setup, hop;
  double rate = 1;
  const FabricConstants* fabric = nullptr;  // of that level
  bool has_nics = true;                     // every rank of a node has a way out of its own that rings use side by side
};

double StepsOf(const LevelView& view) {
  double steps = 0;
  for (int i = 0; i < view.sides; ++i) steps += view.side[i] - 1;
  return steps;
}

Inner InnerOf(const Problem& problem) {
  Inner inner;
  if (!problem.view.has_inner) return inner;
  const LevelView& view = problem.view.levels[0];
  const NetworkLevel& level = *view.level;
  inner.fabric = &*level.fabric;
  inner.ranks = view.ranks;
  inner.stated = level.bandwidth;
  inner.bandwidth = view.injection;
  if (level.topology == Topology::kSwitch && view.ranks > 2) inner.bandwidth = view.injection * inner.fabric->beyond_pair;
  inner.setup = level.base_latency.value_or(inner.fabric->setup);
  inner.step = level.hop_latency.value_or(level.latency);
  inner.long_rate = level.bandwidth_fraction.value_or(inner.fabric->long_rate);
  inner.exchange_rate = inner.fabric->exchange_rate * inner.long_rate / inner.fabric->long_rate;
  inner.steps = StepsOf(view);
  return inner;
}

// Wirings that join nodes, whatever the link's family: their bandwidth is that of each device's own way out.
bool IsNetworkOfNodes(Topology topology) {
  return topology == Topology::kRail || topology == Topology::kFatTree || topology == Topology::kDragonfly;
}

Outer OuterOf(const Problem& problem) {
  Outer outer;
  for (int i = problem.view.has_inner ? 1 : 0; i < problem.view.count; ++i) {
    const LevelView& view = problem.view.levels[i];
    const NetworkLevel& level = *view.level;
    const FabricConstants& fabric = *level.fabric;
    const BytesPerSecond bandwidth = view.injection / (level.topology == Topology::kFatTree ? level.oversubscription : 1);
    const bool has_nics = fabric.scales_out || IsNetworkOfNodes(level.topology);
    const double usual = has_nics ? fabric.outer_rate * (level.in_network_reduction ? fabric.outer_reduction_gain : 1) : fabric.long_rate;
    const double rate = min(1.0, problem.call.outer_fraction.value_or(level.bandwidth_fraction.value_or(usual)));
    outer.has_nics &= has_nics;
    if (outer.nodes == 1 || bandwidth * rate < outer.bandwidth * outer.rate) {
      outer.bandwidth = bandwidth;
      outer.rate = rate;
      outer.fabric = &fabric;
    }
    outer.hop = max(outer.hop, level.hop_latency.value_or(level.latency));
    outer.setup = max(outer.setup, level.base_latency.value_or(fabric.setup));
    outer.nodes *= view.ranks;
  }
  return outer;
}

void BindInputs(const Problem& problem, Trace& trace) {
  if (!trace.on()) return;
  static constexpr std::array<std::string_view, 2> kPaths{"cluster.networks.0", "cluster.networks.1"};
  for (int i = 0; i < problem.view.count; ++i) {
    const LevelView& view = problem.view.levels[i];
    if (view.place >= static_cast<int>(kPaths.size())) continue;
    const bool is_inner = problem.view.has_inner && i == 0;
    const std::string path(kPaths[view.place]);
    trace.Input(is_inner ? "link" : "nic", view.level->bandwidth, path + ".bandwidth");
    trace.Input(is_inner ? "step" : "hop", view.level->hop_latency.value_or(view.level->latency), path + ".latency");
  }
}

// Links that a byte of an exchange crosses on average, on the busiest side, over the links that a rank drives there.
double Detour(const LevelView& view) {
  const Topology topology = view.level->topology;
  if (topology != Topology::kTorus && topology != Topology::kMesh && topology != Topology::kRing) return 1;
  Seconds worst;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    // Bytes on the busiest link for each byte that a rank sends, its own share included.
    const double load = view.wrapped[i] ? side / 8 : floor(side * side / 4) / side;
    worst = max(worst, load * kB / view.link);
  }
  const double ranks = view.ranks;
  return max(1.0, worst * view.injection / (1 * kB) * ranks / (ranks - 1));
}

// Times an all-reduce takes one over all-gather's or reduce-scatter's volume and steps.
double Passes(Pattern pattern) { return pattern == Pattern::kAllReduce ? 2 : 1; }

// Broadcast passes the whole buffer down the ring in pieces; the others move (ranks - 1)/ranks of it once or twice.
double ShareMoved(Pattern pattern, double ranks) { return pattern == Pattern::kBroadcast ? 1 : Passes(pattern) * (ranks - 1) / ranks; }

AlgorithmTime InNodeRing(const Problem& problem, Trace& trace) {
  const Inner inner = InnerOf(problem);
  const Bytes bytes = problem.call.bytes;
  const double ranks = inner.ranks, share = ShareMoved(problem.call.pattern, ranks), steps = Passes(problem.call.pattern) * inner.steps;
  const BytesPerSecond link = inner.bandwidth;
  const Seconds setup = inner.setup + problem.call.launch, step = inner.step, long_setup = inner.fabric->long_setup;
  const double short_rate = inner.fabric->short_rate, long_rate = inner.long_rate, own_rate = inner.fabric->own_rate;
  const double long_step = inner.fabric->long_step;
  BindInputs(problem, trace);
  FIGURE(trace, volume, share * bytes, (Note{"Bytes that a rank sends"}), share, bytes);
  Seconds own_block;
  if (own_rate > 0) {
    FIGURE(trace, own, bytes / (ranks * own_rate * link), (Note{"A rank's own block, moved by the same units", "", kTables}), bytes, ranks,
           own_rate, link);
    own_block = own;
  }
  const Seconds own = own_block;
  FIGURE(trace, short_protocol, setup + steps * step + volume / (short_rate * link) + own,
         (Note{"Ring, short protocol", "flags travel with the data", kTables}), setup, steps, step, volume, short_rate, link, own);
  FIGURE(trace, long_protocol, setup + long_setup + steps * long_step * step + volume / (long_rate * link) + own,
         (Note{"Ring, long protocol", "fills the link, synchronises at every step", kTables}), setup, long_setup, steps, long_step, step,
         volume, long_rate, link, own);
  FIGURE(trace, ring, min(short_protocol, long_protocol), (Note{"Ring in one domain", "the quicker protocol", kTables}), short_protocol,
         long_protocol);
  return {ring, setup + steps * step, volume};
}

// Rings (or trees) over nodes: each leaves a node through one NIC, so all the NICs of the group's ranks work together.
AlgorithmTime OverNodes(const Problem& problem, double node_steps, Trace& trace) {
  const Inner inner = InnerOf(problem);
  const Outer outer = OuterOf(problem);
  const Bytes bytes = problem.call.bytes;
  const double passes = Passes(problem.call.pattern);
  const double ranks = problem.view.ranks, ranks_in_node = inner.ranks, share = ShareMoved(problem.call.pattern, ranks);
  const bool has_inner = inner.ranks > 1;
  const Seconds setup = (has_inner ? inner.setup : outer.setup) + problem.call.launch;
  const Seconds step = inner.step, hop = outer.hop;
  const double steps = passes * inner.steps, hops = passes * node_steps, long_step = outer.fabric->long_step;
  const double nic_rate = outer.rate, short_rate = outer.fabric->outer_short_rate, long_rate = inner.long_rate;
  const BytesPerSecond nic = outer.bandwidth;
  BindInputs(problem, trace);
  FIGURE(trace, volume, share * bytes, (Note{"Bytes that a rank sends"}), share, bytes);
  const double ways_out = outer.has_nics ? ranks_in_node : 1;
  FIGURE(trace, nics, ways_out * nic, (Note{"Ways out of a node that the rings use", "a NIC a rank; one link where there are none"}),
         ways_out, nic);
  BytesPerSecond short_link = short_rate * nics, long_link = nic_rate * nics;
  if (has_inner) {
    const BytesPerSecond link = inner.bandwidth;
    FIGURE(trace, short_path, short_rate * min(link, nics), (Note{"Rate of the short protocol", "", kTables}), short_rate, link, nics);
    FIGURE(trace, long_path, min(long_rate * link, nic_rate * nics), (Note{"Rate of the long protocol", "the link or the NICs"}), long_rate,
           link, nic_rate, nics);
    short_link = short_path;
    long_link = long_path;
  }
  const BytesPerSecond short_path = short_link, long_path = long_link;
  FIGURE(trace, short_protocol, setup + steps * step + hops * hop + volume / short_path,
         (Note{"Over nodes, short protocol", "", "64 H100 with 8 x 400 Gb/s: within 5 % (coreweave/nccl-tests)"}), setup, steps, step, hops,
         hop, volume, short_path);
  FIGURE(trace, long_protocol, setup + steps * step + long_step * hops * hop + volume / long_path,
         (Note{"Over nodes, long protocol", "", "64 H100 with 8 x 400 Gb/s: within 5 % (coreweave/nccl-tests)"}), setup, steps, step,
         long_step, hops, hop, volume, long_path);
  FIGURE(trace, over_nodes, min(short_protocol, long_protocol), (Note{"Over nodes", "the quicker protocol"}), short_protocol,
         long_protocol);
  return {over_nodes, setup + steps * step + hops * hop, volume};
}

bool IsInNode(const Problem& problem) { return problem.view.has_inner && problem.view.count == 1; }

bool RingApplies(const Problem& problem) { return IsReduction(problem.call.pattern) || problem.call.pattern == Pattern::kBroadcast; }
AlgorithmTime RingTime(const Problem& problem, Trace& trace) {
  if (IsInNode(problem)) return InNodeRing(problem, trace);
  return OverNodes(problem, OuterOf(problem).nodes - 1, trace);
}

bool TreeApplies(const Problem& problem) { return RingApplies(problem) && !IsInNode(problem); }
AlgorithmTime TreeTime(const Problem& problem, Trace& trace) { return OverNodes(problem, ceil(log2(OuterOf(problem).nodes)), trace); }

// Switches that reduce and multicast (NVLS): every rank sends its buffer once and receives the sum once. One launch of the
// pipeline costs more the more ranks it keeps in step, and the rate falls with them.
bool ReductionApplies(const Problem& problem) {
  return problem.call.pattern == Pattern::kAllReduce && problem.view.has_inner && problem.view.levels[0].level->in_network_reduction &&
         problem.view.levels[0].ranks >= static_cast<double>(problem.view.levels[0].level->fabric->reduction_from);
}
AlgorithmTime ReductionTime(const Problem& problem, Trace& trace) {
  const Inner inner = InnerOf(problem);
  const Outer outer = OuterOf(problem);
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond link = inner.bandwidth;
  const double ranks = inner.ranks, fall = inner.fabric->reduction_fall, nodes = outer.nodes;
  const double base_rate = problem.view.levels[0].level->reduction_fraction.value_or(inner.fabric->reduction_rate);
  const Seconds setup = inner.setup + problem.call.launch, pipeline_setup = inner.fabric->reduction_setup,
                pipeline_rank = inner.fabric->reduction_setup_rank;
  static constexpr std::string_view source =
      "H200 at 8 GiB over 4 to 8 ranks within 2 %; 72 and 144 GB200 within 6 % (coreweave/nccl-tests)";
  BindInputs(problem, trace);
  FIGURE(trace, reduction_rate, base_rate - fall * log2(max(1.0, ranks / 8)),
         (Note{"Share of the link that in-network reduction reaches", "", source}), base_rate, fall, ranks);
  FIGURE(trace, pipeline, pipeline_setup + pipeline_rank * max(0.0, ranks - 8), (Note{"Start of the pipeline", "", source}), pipeline_setup,
         pipeline_rank, ranks);
  FIGURE(trace, in_domain, bytes * (1 + 1 / ranks) / (reduction_rate * link),
         (Note{"Each rank's buffer to the switch and the sum back", "", source}), bytes, ranks, reduction_rate, link);
  if (nodes > 1) {
    const BytesPerSecond nic = outer.bandwidth;
    const double nic_rate = outer.rate * outer.fabric->tree_share;
    const Seconds hop = outer.hop;
    FIGURE(trace, between, 2 * (nodes - 1) / nodes * bytes / (nic_rate * nic * ranks),
           (Note{"Between nodes, a share of the sum on every NIC", "beside the domain's work", source}), nodes, bytes, nic_rate, nic,
           ranks);
    FIGURE(trace, in_network, setup + 2 * pipeline + 2 * ceil(log2(nodes)) * hop + max(in_domain, between),
           (Note{"In-network reduction in each node, trees between them", "", source}), setup, pipeline, nodes, hop, in_domain, between);
    return {in_network, setup + 2 * pipeline + 2 * ceil(log2(nodes)) * hop, bytes};
  }
  FIGURE(trace, in_network, setup + pipeline + in_domain, (Note{"In-network reduction", "", source}), setup, pipeline, in_domain);
  return {in_network, setup + pipeline, bytes};
}

// Exchange inside one domain of `ranks` where a rank sends `bytes`, its own share included.
AlgorithmTime InNodeExchange(const Problem& problem, Bytes bytes, Trace& trace) {
  const Inner inner = InnerOf(problem);
  const LevelView& view = problem.view.levels[0];
  const double ranks = inner.ranks, exchange_rate = inner.exchange_rate, slow_rate = inner.fabric->exchange_short_rate;
  const double copy_rate = view.level->copy_fraction.value_or(inner.fabric->copy_rate), peer_steps = inner.fabric->exchange_peer;
  const BytesPerSecond link = inner.bandwidth;
  const Seconds setup = inner.setup + problem.call.launch, step = inner.step, long_setup = inner.fabric->exchange_long_setup;
  BindInputs(problem, trace);
  FIGURE(trace, start, setup + step * (1 + peer_steps * (ranks - 1)), (Note{"Start of an exchange", "", kTables}), setup, step, peer_steps,
         ranks);
  FIGURE(trace, volume, (ranks - 1) / ranks * bytes, (Note{"Bytes that leave a rank"}), ranks, bytes);
  FIGURE(trace, short_protocol, start + volume / (slow_rate * link), (Note{"Direct exchange, short protocol", "", kTables}), start, volume,
         slow_rate, link);
  const double detour = Detour(view);
  FIGURE(trace, long_protocol, start + long_setup + detour * volume / (exchange_rate * link) + bytes / (ranks * copy_rate * link),
         (Note{"Direct exchange, long protocol", "detour: links that a byte crosses, over links that a rank drives", kTables}), start,
         long_setup, detour, volume, exchange_rate, link, bytes, ranks, copy_rate);
  FIGURE(trace, exchange, min(short_protocol, long_protocol), (Note{"Direct exchange in one domain", "the quicker protocol"}),
         short_protocol, long_protocol);
  return {exchange, start, volume};
}

bool ExchangeApplies(const Problem& problem) { return problem.call.pattern == Pattern::kAllToAll; }
AlgorithmTime ExchangeTime(const Problem& problem, Trace& trace) {
  if (IsInNode(problem)) return InNodeExchange(problem, problem.call.bytes, trace);
  const Outer outer = OuterOf(problem);
  const double ranks = problem.view.ranks, ranks_in_node = ranks / outer.nodes, nic_rate = outer.rate;
  const Bytes bytes = problem.call.bytes;
  const BytesPerSecond nic = outer.bandwidth;
  const Seconds hop = outer.hop;
  AlgorithmTime inside{outer.setup + problem.call.launch, outer.setup + problem.call.launch, Bytes{}};
  if (problem.view.has_inner) inside = InNodeExchange(problem, ranks_in_node / ranks * bytes, trace);
  const Seconds in_node = inside.time;
  BindInputs(problem, trace);
  FIGURE(trace, exchange_over_nodes, hop + (ranks - ranks_in_node) / ranks * bytes / (nic_rate * nic) + in_node,
         (Note{"Direct exchange over nodes", "what leaves the node, each rank on its NIC, then the share that stays"}), hop, ranks,
         ranks_in_node, bytes, nic_rate, nic, in_node);
  return {exchange_over_nodes, hop + inside.latency, (ranks - 1) / ranks * bytes};
}

bool SendApplies(const Problem& problem) { return problem.call.pattern == Pattern::kSendReceive; }
AlgorithmTime SendTime(const Problem& problem, Trace& trace) {
  const Bytes bytes = problem.call.bytes;
  BindInputs(problem, trace);
  if (IsInNode(problem)) {
    const Inner inner = InnerOf(problem);
    const LevelView& view = problem.view.levels[0];
    const bool is_direct = view.level->topology != Topology::kSwitch;
    const double pair_rate = is_direct ? inner.fabric->direct_pair_rate : inner.fabric->pair_rate;
    const BytesPerSecond link = view.link;
    const Seconds setup = inner.setup + problem.call.launch;
    FIGURE(trace, send, setup + bytes / (pair_rate * link),
           (Note{"Send and receive in one domain", "0.77 through a switch, 0.95 over a direct link", "A100: 228 of 300 GB/s"}), setup,
           bytes, pair_rate, link);
    return {send, setup, bytes};
  }
  const Outer outer = OuterOf(problem);
  const BytesPerSecond nic = outer.bandwidth;
  const double nic_rate = min(outer.rate, outer.fabric->outer_pair_rate);
  const Seconds setup = outer.setup + problem.call.launch, hop = outer.hop;
  FIGURE(trace, send, setup + hop + bytes / (nic_rate * nic), (Note{"Send and receive between nodes", "one NIC"}), setup, hop, bytes,
         nic_rate, nic);
  return {send, setup + hop, bytes};
}

}  // namespace

const std::vector<Algorithm>& LibraryAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"ring", "Ring", kTables, Transport::kLibrary, RingApplies, RingTime},
      {"tree", "Rings in nodes, trees between them", kTables, Transport::kLibrary, TreeApplies, TreeTime},
      {"nvls", "In-network reduction by the switches", kTables, Transport::kLibrary, ReductionApplies, ReductionTime},
      {"direct", "Direct exchange", kTables, Transport::kLibrary, ExchangeApplies, ExchangeTime},
      {"send", "One message", kTables, Transport::kLibrary, SendApplies, SendTime},
  };
  return rows;
}

}  // namespace slipstick
