// Communication libraries (NCCL, RCCL): rings with the LL and Simple protocols, trees between nodes, in-network
// reduction.
#include "core/base/sum.h"
#include "core/collectives/algorithm.h"
#include "core/collectives/library_network.h"

namespace slipstick {
namespace {

bool IsReduction(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter;
}

// Volume and steps over those of an all-gather or reduce-scatter.
double Passes(CollectiveType type) { return type == CollectiveType::kAllReduce ? 2 : 1; }

// A broadcast passes the whole buffer along the ring in pieces; the others move (ranks - 1) / ranks of it once or
// twice.
double ShareMoved(CollectiveType type, double ranks, Trace& trace) {
  if (type == CollectiveType::kBroadcast) return 1;
  const double share = Passes(type) * (ranks - 1) / ranks;
  trace.Record("share", Passes(type) > 1 ? "2 * (ranks - 1) / ranks" : "(ranks - 1) / ranks", share,
               Note{"Share of the buffer that a rank sends", "all but its own block; an all-reduce has two phases"},
               "ranks", ranks);
  return share;
}

// Of both phases of an all-reduce.
double StepsTaken(CollectiveType type, double grid_steps, Trace& trace) {
  const double steps = Passes(type) * grid_steps;
  trace.Record("steps", Passes(type) > 1 ? "2 * grid_steps" : "grid_steps", steps,
               Note{"Steps inside a domain", "an all-reduce has two phases"}, "grid_steps", grid_steps);
  return steps;
}

AlgorithmTime InNodeRing(const CollectiveInstance& instance, Trace& trace) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const Bytes bytes = instance.call.bytes;
  const double ranks = scale_up.ranks;
  BindInputs(instance, trace);
  const double share = ShareMoved(instance.call.type, ranks, trace),
               steps = StepsTaken(instance.call.type, scale_up.steps, trace);
  const BytesPerSecond link = scale_up.bandwidth;
  const Seconds setup = scale_up.setup + instance.call.launch, step = scale_up.step,
                simple_setup = scale_up.fabric->ring.simple_setup;
  const double ll_efficiency = scale_up.fabric->ring.ll_efficiency, simple_efficiency = scale_up.simple_efficiency,
               local_copy_rate = scale_up.fabric->ring.local_copy_rate;
  const double simple_step = scale_up.fabric->ring.simple_step;
  CONSTANTS(trace, TableOf(*scale_up.fabric), kLibrarySource, simple_setup, ll_efficiency, local_copy_rate,
            simple_step);
  FIGURE(trace, volume, share * bytes, (Note{"Bytes sent per rank"}), share, bytes);
  Seconds own_block;
  if (local_copy_rate > 0) {
    FIGURE(trace, own, bytes / (ranks * local_copy_rate * link),
           (Note{"Local copy of a rank's own block", "by the same SMs", kLibrarySource}), bytes, ranks, local_copy_rate,
           link);
    own_block = own;
  }
  const Seconds own = own_block;
  FIGURE(trace, ll_ring, setup + steps * step + volume / (ll_efficiency * link),
         (Note{"Ring, LL protocol", "flags are sent with the data", kLibrarySource}), setup, steps, step, volume,
         ll_efficiency, link);
  FIGURE(trace, simple_ring, setup + simple_setup + steps * simple_step * step + volume / (simple_efficiency * link),
         (Note{"Ring, Simple protocol", "fills the link, synchronizes at every step", kLibrarySource}), setup,
         simple_setup, steps, simple_step, step, volume, simple_efficiency, link);
  const bool copies = local_copy_rate > 0;
  const Seconds ll_time = Sum<Seconds>(trace, "ll_time", Note{"LL protocol with the local copy", "", kLibrarySource},
                                       {{"ll_ring", ll_ring}, {"own", own, copies}});
  const Seconds simple_time =
      Sum<Seconds>(trace, "simple_time", Note{"Simple protocol with the local copy", "", kLibrarySource},
                   {{"simple_ring", simple_ring}, {"own", own, copies}});
  FIGURE(trace, ring, min(ll_time, simple_time), (Note{"Ring in one domain", "the faster protocol", kLibrarySource}),
         ll_time, simple_time);
  return {ring, setup + steps * step, volume};
}

// Setup, with the steps inside the nodes if there are any.
Seconds OverNodesStart(Seconds setup, double steps, Seconds step, bool has_scale_up, Trace& trace) {
  constexpr Note kNote{"Setup and steps inside the nodes", "", kLibrarySource};
  if (!has_scale_up) {
    trace.Alias("start", setup, "setup");
    return setup;
  }
  FIGURE(trace, start, setup + steps * step, kNote, setup, steps, step);
  return start;
}

// Rings or trees over nodes: each leaves a node through one NIC, so the NICs of all ranks work in parallel.
AlgorithmTime OverNodes(const CollectiveInstance& instance, double node_steps, Trace& trace) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const Bytes bytes = instance.call.bytes;
  const double phases = Passes(instance.call.type), ranks = instance.view.ranks, ranks_in_node = scale_up.ranks;
  BindInputs(instance, trace);
  const double share = ShareMoved(instance.call.type, ranks, trace);
  const bool has_scale_up = scale_up.ranks > 1;
  const Seconds setup = (has_scale_up ? scale_up.setup : scale_out.setup) + instance.call.launch;
  const Seconds step = scale_up.step, hop = scale_out.hop;
  const double steps = has_scale_up ? StepsTaken(instance.call.type, scale_up.steps, trace) : phases * scale_up.steps;
  const double simple_step = scale_out.fabric->ring.simple_step;
  const double hops = phases * node_steps;
  trace.Record("hops", phases > 1 ? "2 * node_steps" : "node_steps", hops,
               Note{"Steps between nodes", "an all-reduce has two phases"}, "node_steps", node_steps);
  const double nic_efficiency = scale_out.nic_efficiency, ll_efficiency = scale_out.fabric->scale_out.ll_efficiency,
               simple_efficiency = scale_up.simple_efficiency;
  const BytesPerSecond nic = scale_out.bandwidth;
  CONSTANTS(trace, TableOf(*scale_out.fabric), kLibrarySource, simple_step, ll_efficiency);
  FIGURE(trace, volume, share * bytes, (Note{"Bytes sent per rank"}), share, bytes);
  const double ways_out = scale_out.has_nics ? ranks_in_node : 1;
  if (scale_out.has_nics && has_scale_up) {
    trace.Alias("ways_out", ways_out, "ranks_in_node");
  } else {
    trace.Input("ways_out", ways_out, "cluster.networks.0.fabric");
  }
  FIGURE(trace, nics, ways_out * nic,
         (Note{"Scale-out bandwidth per node", "one NIC per rank; one link where there are no NICs"}), ways_out, nic);
  BytesPerSecond ll_link, simple_link;
  constexpr Note kLl{"Rate of LL", "", kLibrarySource}, kSimple{"Rate of Simple", "the link or the NICs"};
  if (has_scale_up) {
    const BytesPerSecond link = scale_up.bandwidth;
    FIGURE(trace, ll_rate, ll_efficiency * min(link, nics), kLl, ll_efficiency, link, nics);
    FIGURE(trace, simple_rate, min(simple_efficiency * link, nic_efficiency * nics), kSimple, simple_efficiency, link,
           nic_efficiency, nics);
    ll_link = ll_rate;
    simple_link = simple_rate;
  } else {
    FIGURE(trace, ll_rate, ll_efficiency * nics, kLl, ll_efficiency, nics);
    FIGURE(trace, simple_rate, nic_efficiency * nics, kSimple, nic_efficiency, nics);
    ll_link = ll_rate;
    simple_link = simple_rate;
  }
  const BytesPerSecond ll_rate = ll_link, simple_rate = simple_link;
  const Seconds start = OverNodesStart(setup, steps, step, has_scale_up, trace);
  FIGURE(trace, ll_time, start + hops * hop + volume / ll_rate,
         (Note{"Over nodes, LL protocol", "", "64 H100 with 8 × 400 Gb/s: within 5 % (coreweave/nccl-tests)"}), start,
         hops, hop, volume, ll_rate);
  FIGURE(trace, simple_time, start + simple_step * hops * hop + volume / simple_rate,
         (Note{"Over nodes, Simple protocol", "", "64 H100 with 8 × 400 Gb/s: within 5 % (coreweave/nccl-tests)"}),
         start, simple_step, hops, hop, volume, simple_rate);
  FIGURE(trace, over_nodes, min(ll_time, simple_time), (Note{"Over nodes", "the faster protocol"}), ll_time,
         simple_time);
  return {over_nodes, setup + steps * step + hops * hop, volume};
}

// Without a scale-up network every rank is a node.
double NodesOf(const CollectiveInstance& instance, Trace& trace) {
  const double nodes = ScaleOutOf(instance).nodes;
  if (!instance.view.has_scale_up) trace.Alias("nodes", nodes, "ranks");
  return nodes;
}

bool LibraryRingApplies(const CollectiveInstance& instance) {
  return IsReduction(instance.call.type) || instance.call.type == CollectiveType::kBroadcast;
}
AlgorithmTime LibraryRingTime(const CollectiveInstance& instance, Trace& trace) {
  if (IsInNode(instance)) return InNodeRing(instance, trace);
  const double nodes = NodesOf(instance, trace);
  FIGURE(trace, node_steps, nodes - 1, (Note{"Steps around the nodes", ""}), nodes);
  return OverNodes(instance, node_steps, trace);
}

bool LibraryTreeApplies(const CollectiveInstance& instance) {
  return LibraryRingApplies(instance) && !IsInNode(instance);
}
AlgorithmTime LibraryTreeTime(const CollectiveInstance& instance, Trace& trace) {
  const double nodes = NodesOf(instance, trace);
  FIGURE(trace, node_steps, ceil(log2(nodes)), (Note{"Steps of a tree over the nodes", ""}), nodes);
  return OverNodes(instance, node_steps, trace);
}

// NVLS: the switches reduce and multicast; every rank sends its buffer once and receives the sum once. Setup time grows
// and the rate falls with the number of ranks.
bool ReductionApplies(const CollectiveInstance& instance) {
  return instance.call.type == CollectiveType::kAllReduce && instance.view.has_scale_up &&
         instance.view.levels[0].level->in_network_reduction &&
         instance.view.levels[0].ranks >=
             static_cast<double>(instance.view.levels[0].level->fabric->in_network.min_ranks);
}
AlgorithmTime ReductionTime(const CollectiveInstance& instance, Trace& trace) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond link = scale_up.bandwidth;
  const double ranks = scale_up.ranks, fall = scale_up.fabric->in_network.loss_per_doubling, nodes = scale_out.nodes;
  const double base_rate =
      instance.view.levels[0].level->reduction_fraction.value_or(scale_up.fabric->in_network.efficiency);
  const Seconds setup = scale_up.setup + instance.call.launch, pipeline_setup = scale_up.fabric->in_network.setup,
                pipeline_rank = scale_up.fabric->in_network.setup_per_rank;
  static constexpr std::string_view source =
      "H200 at 8 GiB over 4 to 8 ranks within 2 %; 72 and 144 GB200 within 6 % (coreweave/nccl-tests)";
  BindInputs(instance, trace);
  if (trace.on()) {
    trace.Alias("ranks", ranks, "inner_ranks");
    CONSTANTS(trace, TableOf(*scale_up.fabric), kLibrarySource, fall, pipeline_setup, pipeline_rank);
    BindStated("base_rate", base_rate, instance.view.levels[0].level->reduction_fraction.has_value(),
               instance.view.levels[0], "reduction_fraction", trace);
  }
  FIGURE(trace, reduction_rate, base_rate - fall * log2(max(1.0, ranks / 8)),
         (Note{"Bandwidth efficiency of in-network reduction", "", source}), base_rate, fall, ranks);
  FIGURE(trace, pipeline, pipeline_setup + pipeline_rank * max(0.0, ranks - 8),
         (Note{"Setup of the pipeline", "", source}), pipeline_setup, pipeline_rank, ranks);
  FIGURE(trace, in_domain, bytes * (1 + 1 / ranks) / (reduction_rate * link),
         (Note{"Buffers to the switch and the sum back", "", source}), bytes, ranks, reduction_rate, link);
  if (nodes > 1) {
    const BytesPerSecond nic = scale_out.bandwidth;
    const double ring_efficiency = scale_out.nic_efficiency, tree_fraction = scale_out.fabric->scale_out.tree_fraction;
    CONSTANTS(trace, TableOf(*scale_out.fabric), kLibrarySource, tree_fraction);
    trace.Alias("ring_efficiency", ring_efficiency, "nic_efficiency");
    FIGURE(trace, nic_efficiency, ring_efficiency * tree_fraction,
           (Note{"Bandwidth efficiency of the trees", "over that of rings"}), ring_efficiency, tree_fraction);
    const Seconds hop = scale_out.hop;
    FIGURE(trace, between, 2 * (nodes - 1) / nodes * bytes / (nic_efficiency * nic * ranks),
           (Note{"Between nodes", "each NIC carries a part of the sum, in parallel with the domain", source}), nodes,
           bytes, nic_efficiency, nic, ranks);
    FIGURE(trace, in_network, setup + 2 * pipeline + 2 * ceil(log2(nodes)) * hop + max(in_domain, between),
           (Note{"In-network reduction in each node, trees between them", "", source}), setup, pipeline, nodes, hop,
           in_domain, between);
    return {in_network, setup + 2 * pipeline + 2 * ceil(log2(nodes)) * hop, bytes};
  }
  FIGURE(trace, in_network, setup + pipeline + in_domain, (Note{"In-network reduction", "", source}), setup, pipeline,
         in_domain);
  return {in_network, setup + pipeline, bytes};
}

}  // namespace

const std::vector<Algorithm>& LibraryAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"ring", "Ring", kLibrarySource, CollectiveLibrary::kMeasured, LibraryRingApplies, nullptr, LibraryRingTime},
      {"tree", "Rings in nodes, trees between them", kLibrarySource, CollectiveLibrary::kMeasured, LibraryTreeApplies,
       nullptr, LibraryTreeTime},
      {"nvls", "In-network reduction by the switches", kLibrarySource, CollectiveLibrary::kMeasured, ReductionApplies,
       nullptr, ReductionTime},
  };
  return rows;
}

}  // namespace slipstick
