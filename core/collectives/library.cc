// Communication libraries (NCCL, RCCL): rings with the LL and Simple protocols, trees between nodes, in-network
// reduction.
#include "core/base/figure.h"
#include "core/collectives/algorithm.h"
#include "core/collectives/library_network.h"

namespace slipstick {
namespace {

// A broadcast passes the whole buffer along the ring in pieces; other collectives move (ranks - 1) / ranks of it once
// or twice.
Bytes VolumeOf(const CollectiveInstance& instance, Ratio ranks) {
  const Bytes bytes = instance.call.bytes;
  if (Is(instance, CollectiveType::kBroadcast)) return bytes;
  return Figure("Bytes sent per rank", PassesOf(instance) * (ranks - 1) / ranks * bytes,
                "all but its own block; an all-reduce has two phases");
}

// A rank copies its own block, by the same SMs; a broadcast has none.
Seconds OwnBlock(const CollectiveInstance& instance, const ScaleUp& scale_up) {
  const Ratio rate = scale_up.fabric->ring.local_copy_rate;
  if (!(rate > 0) || !IsReductionOrGather(instance)) return {};
  return Figure("Local copy of a rank's own block",
                instance.call.bytes / (instance.view.ranks * rate * scale_up.bandwidth), "by the same SMs",
                kLibrarySource);
}

AlgorithmTime InNodeRing(const CollectiveInstance& instance) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const RingConstants& ring = scale_up.fabric->ring;
  const Bytes volume = VolumeOf(instance, scale_up.ranks);
  const BytesPerSecond link = scale_up.in_rings;
  const Seconds setup = scale_up.setup, step = scale_up.step;
  const Ratio steps = PassesOf(instance) * scale_up.steps;
  const Seconds own_block = OwnBlock(instance, scale_up);
  const Seconds ll_time =
      Figure("Ring, LL protocol", setup + steps * step + volume / (ring.ll_efficiency * link) + own_block,
             "flags are sent with the data", kLibrarySource);
  const Seconds simple_time = Figure("Ring, Simple protocol",
                                     setup + ring.simple_setup + steps * ring.simple_step * step +
                                         volume / (scale_up.simple_efficiency * link) + own_block,
                                     "fills the link, synchronizes at every step", kLibrarySource);
  const Seconds time = Figure("Ring in one domain", min(ll_time, simple_time), "the faster protocol", kLibrarySource);
  return {time, setup + steps * step, volume};
}

// Rings or trees over nodes: each leaves a node through one NIC, so the NICs of all ranks work in parallel. Steps take
// longer in the Simple protocol, inside a node as between nodes. `rounds`: nodes whose ranks the data pass in turn.
AlgorithmTime OverNodes(const CollectiveInstance& instance, const ScaleOut& scale_out, Ratio rounds, Ratio node_steps) {
  constexpr std::string_view kSource = "64 H100 with 8 × 400 Gb/s: within 5 % (coreweave/nccl-tests)";
  const ScaleUp scale_up = ScaleUpOf(instance);
  const double passes = PassesOf(instance);
  const bool has_scale_up = scale_up.ranks > 1;
  const Bytes volume = VolumeOf(instance, instance.view.ranks);
  const Ratio hops = passes * node_steps, ways_out = scale_out.has_nics ? scale_up.ranks : Ratio(1);
  const Ratio ll_efficiency = scale_out.fabric->scale_out.ll_efficiency;
  const BytesPerSecond nics = Figure("Scale-out bandwidth per node", ways_out * scale_out.bandwidth,
                                     "one NIC per rank; one link where there are no NICs");
  Seconds setup = scale_out.setup, inside, simple_inside, own_block;
  BytesPerSecond ll_rate = ll_efficiency * nics, simple_rate = scale_out.nic_efficiency * nics;
  if (has_scale_up) {
    setup = scale_up.setup;
    own_block = OwnBlock(instance, scale_up);
    inside = Figure("Steps inside the nodes", passes * rounds * scale_up.steps * scale_up.step,
                    "an all-reduce has two phases", kLibrarySource);
    simple_inside = scale_up.fabric->ring.simple_step * inside;
    ll_rate = min(scale_up.fabric->ring.ll_efficiency * scale_up.in_rings, ll_rate);
    simple_rate = min(scale_up.simple_efficiency * scale_up.in_rings, simple_rate);
  }
  const Seconds between = Figure("Steps between the nodes", hops * scale_out.hop), start = setup + inside;
  const Seconds ll_time =
      Figure("Over nodes, LL protocol",
             start + between + volume / Figure("Rate of LL", ll_rate, "", kLibrarySource) + own_block, "", kSource);
  const Seconds simple_time =
      Figure("Over nodes, Simple protocol",
             setup + simple_inside + scale_out.fabric->ring.simple_step * between +
                 volume / Figure("Rate of Simple", simple_rate, "the link or the NICs") + own_block,
             "", kSource);
  const Seconds time = Figure("Over nodes", min(ll_time, simple_time), "the faster protocol");
  return {time, start + between, volume};
}

bool LibraryRingApplies(const CollectiveInstance& instance) {
  return IsReductionOrGather(instance) || Is(instance, CollectiveType::kBroadcast);
}
// A ring passes all ranks of a node before it leaves it; one that follows the sides of a grid passes them once.
AlgorithmTime LibraryRingTime(const CollectiveInstance& instance) {
  if (IsInNode(instance)) return InNodeRing(instance);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const Ratio rounds = instance.view.levels[0].fabric->ring.by_sides ? Ratio(1) : scale_out.nodes;
  return OverNodes(instance, scale_out, rounds, Figure("Steps around the nodes", scale_out.nodes - 1));
}

// Partners in a tree are far apart: on a ring, mesh or torus of nodes they would share the wires of all nodes between
// them.
bool FitsTrees(const GroupView& group) {
  for (int i = group.has_scale_up ? 1 : 0; i < group.count; ++i) {
    if (IsGrid(group.levels[i]) && group.levels[i].level->topology != Topology::kHypercube) return false;
  }
  return true;
}

// Trees sum and spread one buffer, so they do not gather or scatter; NCCL's PAT does, for one rank per node.
bool LibraryTreeApplies(const CollectiveInstance& instance) {
  if (IsInNode(instance) || !IsReductionOrGather(instance)) return false;
  const bool is_sum = Is(instance, CollectiveType::kAllReduce);
  return (is_sum || !instance.view.has_scale_up) && FitsTrees(instance.view);
}
AlgorithmTime LibraryTreeTime(const CollectiveInstance& instance) {
  const ScaleOut scale_out = ScaleOutOf(instance);
  return OverNodes(instance, scale_out, 1, Figure("Steps of a tree over the nodes", ceil(log2(scale_out.nodes))));
}

// NVLS: the switches reduce and multicast; every rank sends its buffer once and receives the sum once. Setup time grows
// and the rate falls with the number of ranks.
bool ReductionApplies(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  return Is(instance, CollectiveType::kAllReduce) && instance.view.has_scale_up && FitsTrees(instance.view) &&
         view.level->in_network_reduction && view.ranks >= static_cast<double>(view.fabric->in_network.min_ranks);
}
AlgorithmTime ReductionTime(const CollectiveInstance& instance) {
  constexpr std::string_view kSource =
      "H200 at 8 GiB over 4 to 8 ranks within 2 %; 72 and 144 GB200 within 6 % (coreweave/nccl-tests)";
  const ScaleUp scale_up = ScaleUpOf(instance);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const InNetworkConstants& fitted = scale_up.fabric->in_network;
  const Bytes bytes = instance.call.bytes;
  const Ratio ranks = scale_up.ranks, nodes = scale_out.nodes;
  const Seconds setup = scale_up.setup;
  const Ratio base_rate = instance.view.levels[0].level->reduction_fraction.value_or(fitted.efficiency);
  const Ratio rate = Figure("Bandwidth efficiency of in-network reduction",
                            base_rate - fitted.loss_per_doubling * log2(max(1.0, ranks / 8)), "", kSource);
  const Seconds pipeline =
      Figure("Setup of the pipeline", fitted.setup + fitted.setup_per_rank * max(0.0, ranks - 8), "", kSource);
  const Seconds in_domain = Figure("Buffers to the switch and the sum back",
                                   bytes * (1 + 1 / ranks) / (rate * scale_up.in_rings), "", kSource);
  if (!(nodes > 1)) {
    const Seconds time = Figure("In-network reduction", setup + pipeline + in_domain, "", kSource);
    return {time, setup + pipeline, bytes};
  }
  const BytesPerSecond nic = scale_out.bandwidth;
  const Ratio nic_efficiency =
      Figure("Bandwidth efficiency of the trees", scale_out.nic_efficiency * scale_out.fabric->scale_out.tree_fraction,
             "over that of rings", kLibrarySource);
  const Seconds between = Figure("Between nodes", 2 * (nodes - 1) / nodes * bytes / (nic_efficiency * nic * ranks),
                                 "each NIC carries a part of the sum, in parallel with the domain", kSource);
  const Seconds latency = setup + 2 * pipeline + 2 * ceil(log2(nodes)) * scale_out.hop;
  const Seconds time =
      Figure("In-network reduction in each node, trees between them", latency + max(in_domain, between), "", kSource);
  return {time, latency, bytes};
}

}  // namespace

std::span<const Algorithm> LibraryAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"ring", "Ring", LibraryRingApplies, LibraryRingTime},
      {"tree", "Rings in nodes, trees between them", LibraryTreeApplies, LibraryTreeTime},
      {"nvls", "In-network reduction by the switches", ReductionApplies, ReductionTime},
  };
  return rows;
}

}  // namespace slipstick
