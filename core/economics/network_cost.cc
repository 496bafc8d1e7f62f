#include "core/economics/network_cost.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sum.h"

namespace slipstick {

SwitchTree BuildTree(Count endpoints, Count ports, double oversubscription) {
  if (endpoints <= 1) return {};
  if (endpoints <= ports) return {1, 1};
  const auto round_up = [](double x) { return static_cast<Count>(WholeAbove(x)); };
  const double all = static_cast<double>(ports), half = all / 2;
  const double down = oversubscription == 1 ? half : std::max(1.0, std::floor(all * oversubscription / (1 + oversubscription)));
  const Count leaves = round_up(static_cast<double>(endpoints) / down);
  const double links = static_cast<double>(endpoints) / oversubscription;
  int above = 1;  // tiers above the leaves
  for (double reach = all; static_cast<double>(leaves) > reach && above < 16; reach *= half) ++above;
  return {1 + above, leaves + (above - 1) * round_up(links / half) + round_up(links / all)};
}

SwitchTree BuildDragonfly(Count endpoints, Count ports) {
  if (endpoints <= ports) return BuildTree(endpoints, ports);
  const Count per_router = std::max<Count>(1, (ports + 1) / 4);
  return {2, (endpoints + per_router - 1) / per_router};
}

Dollars PriceLevel(Topology topology, Count size, Count devices, BytesPerSecond bandwidth, const LevelPrices& prices) {
  const double n = static_cast<double>(size);
  if (size < 2) return Dollars();
  const double groups = static_cast<double>(devices) / n;
  switch (topology) {
    case Topology::kRing:
    case Topology::kMesh:
    case Topology::kTorus:
    case Topology::kHypercube:
      return groups * 2 * n * (bandwidth / 2 * prices.link);
    case Topology::kFullyConnected:
      return groups * n * (n - 1) * (bandwidth / (n - 1) * prices.link);
    case Topology::kSwitch:
    case Topology::kFatTree:
    case Topology::kRail:
    case Topology::kDragonfly:
      return groups * n * (bandwidth * (prices.link + prices.switch_port + prices.adapter));
  }
  return Dollars();
}

namespace {

// The least tiers that join all leaves.
void ExplainTiers(const SwitchTree& tree, double endpoints, double ports, double oversubscription, double leaves, Trace& trace) {
  const double tiers = tree.tiers;
  double missed = endpoints - ports;  // by a tier less
  std::string what = " tier: devices out of reach";
  if (tree.tiers > 2) {
    double reach = ports;
    for (int above = 1; above + 2 < tree.tiers; ++above) reach *= ports / 2;
    missed = leaves - reach;
    what = " tiers: leaf switches out of reach";
  }
  const auto number = [](int count) { return std::to_string(count); };
  const std::vector<std::pair<std::string, double>> among{{number(tree.tiers - 1) + what, missed},
                                                          {number(tree.tiers) + " tiers: out of reach", 0}};
  trace.Choice("tiers", tiers, Note{"Tiers of switches", "the fewest that reach every device of a plane"}, among, 1,
               "endpoints, ports, oversubscription", endpoints, ports, oversubscription);
}

// Tiers, and the switches that they take.
double ExplainTree(const SwitchTree& tree, double endpoints, double ports, double oversubscription, Trace& trace) {
  const double tiers = tree.tiers, tree_switches = static_cast<double>(tree.switches);
  if (!trace.on()) return tree_switches;
  if (tree.tiers <= 1) {
    trace.Record("tiers", "ceil((endpoints - 1) / ports)", tiers, Note{"Tiers of switches", "a single switch joins all"},
                 "endpoints, ports", endpoints, ports);
    trace.Record("tree_switches", "tiers", tree_switches, Note{"Switches of a plane", "one joins all"}, "tiers", tiers);
    return tree_switches;
  }
  const double half = ports / 2;
  if (oversubscription == 1) {
    trace.Record("down", "ports / 2", half, Note{"Ports of a leaf switch to its devices"}, "ports", ports);
  } else {
    FIGURE(trace, down, max(1.0, floor(ports * oversubscription / (1 + oversubscription))), (Note{"Ports of a leaf switch to its devices"}),
           ports, oversubscription);
  }
  const double down = oversubscription == 1 ? half : max(1.0, floor(ports * oversubscription / (1 + oversubscription)));
  FIGURE(trace, leaves, ceil(endpoints / down), (Note{"Leaf switches"}), endpoints, down);
  ExplainTiers(tree, endpoints, ports, oversubscription, leaves, trace);
  FIGURE(trace, up_links, endpoints / oversubscription, (Note{"Links out of the leaf switches"}), endpoints, oversubscription);
  trace.Record("tree_switches", "leaves + (tiers - 2) * ceil(up_links / (ports / 2) - 1e-9) + ceil(up_links / ports - 1e-9)", tree_switches,
               Note{"Switches of a plane", "leaves, tiers between, and the top"}, "leaves, tiers, up_links, ports", leaves, tiers, up_links,
               ports);
  return tree_switches;
}

// The routers of a dragonfly.
double ExplainDragonfly(const SwitchTree& dragonfly, double endpoints, double ports, Trace& trace) {
  if (dragonfly.tiers <= 1) return ExplainTree(dragonfly, endpoints, ports, 1, trace);
  FIGURE(trace, tree_switches, ceil(endpoints / max(1.0, floor((ports + 1) / 4))),
         (Note{"Routers of a plane", "balanced: a quarter of the ports to devices",
               "Kim et al., Technology-driven, highly-scalable dragonfly topology, 2008"}),
         endpoints, ports);
  return tree_switches;
}

bool IsDirect(Topology topology) {
  switch (topology) {
    case Topology::kRing:
    case Topology::kMesh:
    case Topology::kTorus:
    case Topology::kHypercube:
    case Topology::kFullyConnected:
      return true;
    case Topology::kSwitch:
    case Topology::kFatTree:
    case Topology::kRail:
    case Topology::kDragonfly:
      return false;
  }
  return false;
}

// Dollars of the direct links of a level.
Dollars PriceLinks(const NetworkLevel& level, Count reached, Count devices, DollarsPerBandwidth link_price, Trace& trace) {
  const Dollars level_links = PriceLevel(level.topology, reached, devices, level.bandwidth, {link_price, {}, {}});
  if (trace.on()) {
    const double all = static_cast<double>(devices), joined = static_cast<double>(reached);
    const BytesPerSecond bandwidth = level.bandwidth;
    trace.Alias("joined", joined, "reached");
    trace.Record("level_links", "devices / joined * joined * bandwidth * link_price", level_links,
                 Note{"Direct links of this level", "each device pays for its bandwidth, one end to the other"},
                 "devices, joined, bandwidth, link_price", all, joined, bandwidth, link_price);
  }
  return level_links;
}

// Dollars of a level's switches and cables.
struct SwitchedLevel {
  Dollars switches, cables;
  int tiers = 0;
  double count = 0;
};
SwitchedLevel PriceSwitches(const NetworkLevel& level, double reached, const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  const double devices = static_cast<double>(cluster.devices), devices_per_host = static_cast<double>(inputs.devices_per_host);
  const double oversubscription = level.oversubscription, ports = static_cast<double>(inputs.switch_ports);
  FIGURE(trace, groups, devices / reached, (Note{"Networks of this level"}), devices, reached);
  FIGURE(trace, planes, min(max(devices_per_host, 1.0), reached), (Note{"Switch planes", "one per device of a server"}), devices_per_host,
         reached);
  FIGURE(trace, endpoints, ceil(reached / planes), (Note{"Devices of a plane"}), reached, planes);
  const bool is_dragonfly = level.topology == Topology::kDragonfly;
  const SwitchTree tree = is_dragonfly ? BuildDragonfly(static_cast<Count>(endpoints), inputs.switch_ports)
                                       : BuildTree(static_cast<Count>(endpoints), inputs.switch_ports, oversubscription);
  const double tree_switches =
      is_dragonfly ? ExplainDragonfly(tree, endpoints, ports, trace) : ExplainTree(tree, endpoints, ports, oversubscription, trace);
  const Dollars switch_price = inputs.switch_price;
  const Dollars cable_price = tree.tiers <= 1   ? inputs.cables_one_tier
                              : tree.tiers == 2 ? inputs.cables_two_tiers
                                                : inputs.cables_three_tiers;
  trace.Input("cable_price", cable_price,
              tree.tiers <= 1   ? "cost.system.cables_one_tier"
              : tree.tiers == 2 ? "cost.system.cables_two_tiers"
                                : "cost.system.cables_three_tiers");
  FIGURE(trace, switch_count, groups * (planes * tree_switches), (Note{"Switches of this level"}), groups, planes, tree_switches);
  FIGURE(trace, level_switches, switch_count * switch_price, (Note{"Price of the switches of this level"}), switch_count, switch_price);
  FIGURE(trace, level_cables, devices * cable_price, (Note{"Price of the cables of this level", "with as many tiers as it has"}), devices,
         cable_price);
  return {level_switches, level_cables, tree.tiers, switch_count};
}

// Devices that the levels so far join; `below`: those of the level before.
double Reached(double devices, double below, double size, bool is_first, Trace& trace) {
  constexpr Note kNote{"Devices that the levels so far join"};
  if (is_first) {
    FIGURE(trace, reached, min(devices, size), kNote, devices, size);
    return reached;
  }
  FIGURE(trace, reached, min(devices, below * size), kNote, devices, below, size);
  return reached;
}

void BindPrices(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  trace.Input("devices", static_cast<double>(cluster.devices), "cluster.devices");
  trace.Input("devices_per_host", static_cast<double>(inputs.devices_per_host), "cost.system.devices_per_host");
  trace.Input("ports", static_cast<double>(inputs.switch_ports), "cost.system.switch_ports");
  trace.Input("switch_price", inputs.switch_price, "cost.system.switch_price");
  trace.Input("link_price", inputs.link_price, "cost.system.link_price");
}

}  // namespace

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  if (trace.on()) BindPrices(cluster, inputs, trace);
  RunningSum<Dollars> switches(trace, "switches", "switches_before", Note{"Switches so far"});
  RunningSum<Dollars> cables(trace, "cables", "cables_before", Note{"Cables so far"});
  RunningSum<Dollars> links(trace, "links", "links_before", Note{"Direct links so far"});
  NetworkCost cost;
  const double devices = static_cast<double>(cluster.devices);
  double below = 1;  // devices that the levels so far join
  for (std::size_t i = 0; i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    const Trace::Scope scope(trace, level.name);
    const double size = static_cast<double>(std::max<Count>(level.size, 1));
    if (trace.on()) {
      const std::string input = "cluster.networks." + std::to_string(i) + ".";
      trace.Input("size", size, input + "size");
      trace.Input("bandwidth", level.bandwidth, input + "bandwidth");
      trace.Input("oversubscription", level.oversubscription, input + "oversubscription");
      trace.Alias("below", below, "reached");
    }
    const double reached = Reached(devices, below, size, i == 0, trace);
    const bool is_inside = reached <= static_cast<double>(inputs.devices_per_host) || reached <= below;
    below = reached;
    if (is_inside) continue;
    if (IsDirect(level.topology)) {
      links.Add("level_links", PriceLinks(level, static_cast<Count>(reached), cluster.devices, inputs.link_price, trace));
      continue;
    }
    const SwitchedLevel priced = PriceSwitches(level, reached, cluster, inputs, trace);
    switches.Add("level_switches", priced.switches);
    cables.Add("level_cables", priced.cables);
    cost.tiers = std::max(cost.tiers, priced.tiers);
    cost.switch_count += static_cast<Count>(std::ceil(priced.count));
  }
  cost.switches = switches.sum();
  cost.cables = cables.sum();
  cost.links = links.sum();
  return cost;
}

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs) {
  Trace off = Trace::Off();
  return PriceNetwork(cluster, inputs, off);
}

}  // namespace slipstick
