#include "core/collectives/library_network.h"

#include <utility>
#include <vector>

namespace slipstick {
namespace {

double StepsOf(const LevelView& view) {
  if (!view.level->fabric->ring.by_sides) return view.ranks - 1;
  double steps = 0;
  for (int i = 0; i < view.sides; ++i) steps += view.side[i] - 1;
  return steps;
}

// Topologies that join nodes: their bandwidth is per device, so every device has a NIC whatever the fabric.
bool IsNetworkOfNodes(Topology topology) {
  return topology == Topology::kRail || topology == Topology::kFatTree || topology == Topology::kDragonfly;
}

}  // namespace

ScaleUp ScaleUpOf(const CollectiveInstance& instance) {
  ScaleUp scale_up;
  if (!instance.view.has_scale_up) return scale_up;
  const LevelView& view = instance.view.levels[0];
  const NetworkLevel& level = *view.level;
  scale_up.fabric = &*level.fabric;
  scale_up.ranks = view.ranks;
  scale_up.stated = level.bandwidth;
  scale_up.bandwidth = view.injection;
  if (level.topology == Topology::kSwitch && view.ranks > 2)
    scale_up.bandwidth = view.injection * scale_up.fabric->ring.shared_root_port_fraction;
  scale_up.setup = level.base_latency.value_or(scale_up.fabric->setup);
  scale_up.step = level.hop_latency.value_or(level.latency) * view.spacing;
  scale_up.simple_efficiency = level.bandwidth_fraction.value_or(scale_up.fabric->ring.simple_efficiency);
  scale_up.exchange_efficiency = scale_up.fabric->all_to_all.simple_efficiency * scale_up.simple_efficiency /
                                 scale_up.fabric->ring.simple_efficiency;
  scale_up.steps = StepsOf(view);
  scale_up.exchange = WireLoadOf(view);
  return scale_up;
}

ScaleOut ScaleOutOf(const CollectiveInstance& instance) {
  ScaleOut scale_out;
  for (int i = instance.view.has_scale_up ? 1 : 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const NetworkLevel& level = *view.level;
    const FabricConstants& fabric = *level.fabric;
    const BytesPerSecond bandwidth =
        view.injection / (level.topology == Topology::kFatTree ? level.oversubscription : Ratio(1));
    const bool has_nics = fabric.scales_out || IsNetworkOfNodes(level.topology);
    const double usual =
        has_nics ? fabric.scale_out.nic_efficiency * (level.in_network_reduction ? fabric.scale_out.reduction_gain : 1)
                 : fabric.ring.simple_efficiency;
    const double rate = min(1.0, instance.call.nic_efficiency.value_or(level.bandwidth_fraction.value_or(usual)));
    scale_out.has_nics &= has_nics;
    if (scale_out.nodes == 1 || bandwidth * rate < scale_out.bandwidth * scale_out.nic_efficiency) {
      scale_out.bandwidth = bandwidth;
      scale_out.nic_efficiency = rate;
      scale_out.fabric = &fabric;
    }
    const WireLoad exchange = WireLoadOf(view);
    scale_out.exchange = {max(scale_out.exchange.detour, exchange.detour), max(scale_out.exchange.hops, exchange.hops)};
    scale_out.hop = max(scale_out.hop, level.hop_latency.value_or(level.latency) * view.spacing);
    scale_out.setup = max(scale_out.setup, level.base_latency.value_or(fabric.setup));
    scale_out.nodes *= view.ranks;
  }
  return scale_out;
}

std::string TableOf(const FabricConstants& fabric) { return "fabrics." + fabric.id; }

namespace {

std::string PathOf(const LevelView& view) { return "cluster.networks." + std::to_string(view.index); }

// What the block of a group in a grid decides: its shape follows from the ranks, their distance, the cluster's devices,
// the grid's sides and which of them close.
void BindBlock(std::string_view symbol, double value, const Note& note, const LevelView& view, double devices,
               Trace& trace) {
  std::vector<internal::Value> values{internal::ValueOf(value), internal::ValueOf(view.ranks),
                                      internal::ValueOf(devices)};
  std::string names = "ranks, devices";
  const auto add = [&](const std::string& name, double term, const std::string& field) {
    trace.Input(name, term, PathOf(view) + "." + field);
    names += ", " + name;
    values.push_back(internal::ValueOf(term));
  };
  trace.Input("devices", devices, "cluster.devices");
  if (view.index > 0) trace.Alias("ranks", view.ranks, "nodes");
  add("wrap_every", static_cast<double>(view.level->wrap_every), "wrap_every");
  const std::vector<Count>& dims = view.level->dims;
  if (dims.empty()) add("size", static_cast<double>(view.level->size), "size");
  for (std::size_t i = 0; i < dims.size(); ++i)
    add("side_" + std::to_string(i), static_cast<double>(dims[i]), "dims." + std::to_string(i));
  if (view.apart > 1) {
    names += ", spacing";
    values.push_back(internal::ValueOf(view.apart));
  }
  if (view.innermost > 1 && view.innermost != view.ranks && view.innermost != view.apart) {
    names += ", innermost";
    values.push_back(internal::ValueOf(view.innermost));
  }
  trace.Procedure(symbol, note, names, values);
}

// The latency of a step in the library: a hop's, over all wires to the next rank of the group.
void BindStep(std::string_view symbol, Seconds step, const LevelView& view, double devices, Trace& trace) {
  const NetworkLevel& level = *view.level;
  const Seconds one_hop = level.hop_latency.value_or(level.latency);
  const std::string path = PathOf(view) + (level.hop_latency ? ".hop_latency" : ".latency");
  if (view.spacing == 1) return trace.Input(symbol, step, path);
  const double wires = view.spacing;
  trace.Input("one_hop", one_hop, path);
  BindBlock("wires", wires, Note{"Wires to the next rank of the group"}, view, devices, trace);
  trace.Record(symbol, "wires * one_hop", step, Note{"Latency to the next rank"}, "wires, one_hop", wires, one_hop);
}

}  // namespace

void BindBandwidth(std::string_view symbol, const LevelView& view, BytesPerSecond usable, double devices,
                   Trace& trace) {
  const BytesPerSecond stated = view.level->bandwidth;
  const std::string path = PathOf(view) + ".bandwidth";
  trace.Input("stated", stated, path);
  trace.Alias("stated", stated, path);  // a share of it that a caller named so
  if (usable == stated) return trace.Alias(symbol, usable, "stated");
  const double used_share = usable / stated;
  const NetworkLevel& level = *view.level;
  const double shared_root_port_fraction = level.fabric->ring.shared_root_port_fraction;
  if (level.topology == Topology::kSwitch && used_share == shared_root_port_fraction) {
    trace.Constants(TableOf(*level.fabric), kLibrarySource, "used_share", shared_root_port_fraction);
  } else {
    BindBlock("used_share", used_share,
              Note{"Links of a rank that lead into its group",
                   "over all its links; its share of those that other groups use too"},
              view, devices, trace);
  }
  trace.Record(symbol, "stated * used_share", usable,
               Note{"Usable bandwidth of a rank", "links to the group; shared root ports"}, "stated, used_share",
               stated, used_share);
}

void BindNeighborShare(std::string_view symbol, double wire_share, const NetworkLevel& level, std::size_t index,
                       Trace& trace) {
  if (!trace.on()) return;
  const auto size = static_cast<double>(level.size);
  trace.Input("size", size, "cluster.networks." + std::to_string(index) + ".size");
  const std::vector<std::pair<std::string, double>> among{{"the wire to the next rank", wire_share},
                                                          {"through a switch", 1}};
  trace.Choice(symbol, wire_share,
               Note{"Share of the bandwidth on the wire to the next rank", "as the topology splits it"}, among, 0,
               "size", size);
}

void BindWireLoad(const LevelView& view, double devices, Trace& trace) {
  if (!trace.on()) return;
  const auto [detour, hops] = WireLoadOf(view);
  if (!IsGrid(view)) {
    trace.Constants("collectives.wiring", "through switches, or over direct wires to every peer", "detour, hops",
                    detour, hops);
    return;
  }
  BindBlock("detour", detour,
            Note{"Detour of an all-to-all", "bytes on the busiest wires over those that a rank sends"}, view, devices,
            trace);
  BindBlock("hops", hops, Note{"Wires on the longest route"}, view, devices, trace);
}

void BindOuterWireLoad(const CollectiveInstance& instance, Trace& trace) {
  if (!trace.on()) return;
  const WireLoad heaviest = ScaleOutOf(instance).exchange;
  for (int i = instance.view.has_scale_up ? 1 : 0; i < instance.view.count; ++i) {
    const WireLoad load = WireLoadOf(instance.view.levels[i]);
    if (load.detour == heaviest.detour || load.hops == heaviest.hops)
      BindWireLoad(instance.view.levels[i], instance.view.devices, trace);
  }
}

namespace {

// Setup with the launch by the host, if the call waits for it.
void BindSetup(const CollectiveInstance& instance, Seconds setup, bool is_stated, const LevelView& view, Trace& trace) {
  const Seconds host_wait = instance.call.launch;
  if (!instance.call.waits_for_host) return BindStated("setup", setup, is_stated, view, "base_latency", trace);
  const Seconds own_setup = setup;
  BindStated("own_setup", own_setup, is_stated, view, "base_latency", trace);
  trace.Record("setup", "own_setup + host_wait", setup + host_wait,
               Note{"Setup of the collective", "with the launch by the host"}, "own_setup, host_wait", own_setup,
               host_wait);
}

void BindScaleUp(const CollectiveInstance& instance, Trace& trace) {
  if (!trace.on() || !instance.view.has_scale_up) return;
  const LevelView& view = instance.view.levels[0];
  const NetworkLevel& level = *view.level;
  const ScaleUp scale_up = ScaleUpOf(instance);
  trace.Alias("ranks_in_node", scale_up.ranks, "inner_ranks");
  if (instance.view.count == 1) trace.Alias("ranks", scale_up.ranks, "inner_ranks");
  BindBandwidth("link", view, scale_up.bandwidth, instance.view.devices, trace);
  BindStep("step", scale_up.step, view, instance.view.devices, trace);
  BindSetup(instance, scale_up.setup, level.base_latency.has_value(), view, trace);
  BindStated("simple_efficiency", scale_up.simple_efficiency, level.bandwidth_fraction.has_value(), view,
             "bandwidth_fraction", trace);
  if (view.sides == 1 || !level.fabric->ring.by_sides) {
    const double ranks_in_node = scale_up.ranks, grid_steps = scale_up.steps;
    FIGURE(trace, ring_steps, ranks_in_node - 1, (Note{"Steps around a domain", ""}), ranks_in_node);
    trace.Alias("grid_steps", grid_steps, "ring_steps");
  } else {
    BindBlock("grid_steps", scale_up.steps, Note{"Steps along the sides of the group's block", "in the grid"}, view,
              instance.view.devices, trace);
  }
}

// The slowest level between nodes.
void BindScaleOut(const CollectiveInstance& instance, Trace& trace) {
  if (!trace.on()) return;
  const ScaleOut scale_out = ScaleOutOf(instance);
  trace.Alias("nodes", scale_out.nodes, instance.view.has_scale_up ? "nodes" : "ranks");
  for (int i = instance.view.has_scale_up ? 1 : 0; i < instance.view.count; ++i) {
    const LevelView& view = instance.view.levels[i];
    const NetworkLevel& level = *view.level;
    if (level.hop_latency.value_or(level.latency) * view.spacing == scale_out.hop)
      BindStep("hop", scale_out.hop, view, instance.view.devices, trace);
    if (&*level.fabric != scale_out.fabric) continue;
    const double tapered = level.topology == Topology::kFatTree ? level.oversubscription : Ratio(1);
    if (tapered == 1) {
      BindBandwidth("nic", view, scale_out.bandwidth, instance.view.devices, trace);
    } else {
      const BytesPerSecond stated = level.bandwidth;
      trace.Input("stated", stated, PathOf(view) + ".bandwidth");
      trace.Alias("stated", stated, PathOf(view) + ".bandwidth");
      trace.Input("oversubscription", tapered, PathOf(view) + ".oversubscription");
      trace.Record("nic", "stated / oversubscription", scale_out.bandwidth,
                   Note{"Bandwidth per device between nodes", ""}, "stated, oversubscription", stated, tapered);
    }
    if (!instance.view.has_scale_up) BindSetup(instance, scale_out.setup, level.base_latency.has_value(), view, trace);
    if (!instance.call.nic_efficiency)
      BindStated("nic_efficiency", scale_out.nic_efficiency, level.bandwidth_fraction.has_value(), view,
                 "bandwidth_fraction", trace);
  }
}

}  // namespace

void BindInputs(const CollectiveInstance& instance, Trace& trace) {
  BindScaleUp(instance, trace);
  if (instance.view.count > (instance.view.has_scale_up ? 1 : 0)) BindScaleOut(instance, trace);
}

}  // namespace slipstick
