#include "core/collectives/library_network.h"

#include "core/base/figure.h"

namespace slipstick {
namespace {

Ratio StepsOf(const LevelView& view) {
  if (view.sides == 1 || !view.fabric->ring.by_sides) return Figure("Steps around a domain", view.ranks - 1);
  double steps = 0;
  for (int i = 0; i < view.sides; ++i) steps += view.side[i] - 1;
  return OfBlock("Steps along the sides of the group's block", steps, view, "in the grid");
}

// Latency of one step of the library, over all wires to the next rank of the group.
Seconds StepLatency(const LevelView& view) {
  return view.level->hop_latency.value_or(view.level->latency) * view.spacing;
}

Seconds SetupOf(const LevelView& view, const CollectiveCall& call) {
  return view.level->base_latency.value_or(view.fabric->setup) + call.launch;
}

// Topologies that join nodes: their bandwidth is per device, so every device has a NIC on any fabric.
bool IsNetworkOfNodes(Topology topology) {
  return topology == Topology::kRail || topology == Topology::kFatTree || topology == Topology::kDragonfly;
}

// Fraction of the bandwidth that a NIC reaches, or a link if there are no NICs.
Ratio ScaleOutEfficiency(const LevelView& view, bool has_nics) {
  return has_nics ? view.fabric->scale_out.nic_efficiency : view.fabric->ring.simple_efficiency;
}

}  // namespace

ScaleUp ScaleUpOf(const CollectiveInstance& instance) {
  ScaleUp scale_up;
  if (!instance.view.has_scale_up) return scale_up;
  const LevelView& view = instance.view.levels[0];
  const NetworkLevel& level = *view.level;
  const RingConstants& ring = view.fabric->ring;
  scale_up.fabric = view.fabric;
  scale_up.ranks = view.ranks;
  scale_up.bandwidth = view.injection;
  if (level.topology == Topology::kSwitch && view.ranks > 2 && ring.shared_root_port_fraction != 1)
    scale_up.bandwidth = Figure("Usable bandwidth of a rank", view.injection * ring.shared_root_port_fraction,
                                "more than two ranks share root ports", kLibrarySource);
  scale_up.in_rings = scale_up.bandwidth;
  if (const Ratio narrowing = NarrowingOfRing(view); narrowing != 1)
    scale_up.in_rings = Figure("Bandwidth of a rank in rings", scale_up.bandwidth / narrowing);
  scale_up.setup = SetupOf(view, instance.call);
  scale_up.step = StepLatency(view);
  scale_up.simple_efficiency = level.bandwidth_fraction.value_or(ring.simple_efficiency);
  scale_up.exchange_efficiency =
      Figure("Bandwidth efficiency of an all-to-all",
             view.fabric->all_to_all.simple_efficiency * scale_up.simple_efficiency / ring.simple_efficiency,
             "as the level's rings over the fabric's", kLibrarySource);
  scale_up.steps = StepsOf(view);
  scale_up.exchange = WireLoadOf(view);
  return scale_up;
}

ScaleOut ScaleOutOf(const CollectiveInstance& instance) {
  const GroupView& group = instance.view;
  ScaleOut scale_out;
  scale_out.nodes = group.has_scale_up ? group.nodes : group.ranks;  // without a scale-up network every rank is a node
  const int first = group.has_scale_up ? 1 : 0;
  for (int i = first; i < group.count; ++i) {
    const LevelView& view = group.levels[i];
    const NetworkLevel& level = *view.level;
    const Ratio narrowing = NarrowingOfRing(view);
    const BytesPerSecond bandwidth = view.injection / narrowing, link = view.link / narrowing;
    const bool has_nics = view.fabric->scales_out || IsNetworkOfNodes(level.topology);
    const Ratio usual = ScaleOutEfficiency(view, has_nics);
    const Ratio rate = min(1.0, instance.call.nic_efficiency.value_or(level.bandwidth_fraction.value_or(usual)));
    scale_out.has_nics &= has_nics;
    if (i == first || bandwidth * rate < scale_out.bandwidth * scale_out.nic_efficiency) {
      scale_out.bandwidth = bandwidth;
      scale_out.nic_efficiency = Figure("Bandwidth efficiency between nodes", rate);
      scale_out.fabric = view.fabric;
    }
    scale_out.link = i == first ? link : min(scale_out.link, link);
    const auto [detour, hops] = WireLoadOf(view);
    const BytesPerSecond exchange =
        Figure("Rate of an all-to-all between nodes", rate * view.injection / detour, "of a device");
    const Seconds hop = StepLatency(view), setup = SetupOf(view, instance.call);
    scale_out.exchange = i == first ? exchange : min(scale_out.exchange, exchange);
    scale_out.exchange_hops = max(scale_out.exchange_hops, hops);
    scale_out.hop = i == first ? hop : max(scale_out.hop, hop);
    scale_out.setup = i == first ? setup : max(scale_out.setup, setup);
  }
  return scale_out;
}

}  // namespace slipstick
