#include "core/economics/network_cost.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sum.h"
#include "core/hardware/grid.h"

namespace slipstick {

SwitchTree BuildTree(Count endpoints, Count ports, double oversubscription) {
  if (endpoints <= 1) return {};
  if (endpoints <= ports) return {1, 1};
  const auto round_up = [](double x) { return static_cast<Count>(WholeAbove(x)); };
  const double all = static_cast<double>(ports), half = all / 2;
  const double down =
      oversubscription == 1 ? half : std::max(1.0, std::floor(all * oversubscription / (1 + oversubscription)));
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

namespace {

bool IsDirect(Topology topology) { return IsGrid(topology) || topology == Topology::kFullyConnected; }

}  // namespace

LinkCount CountLinks(const NetworkLevel& level, Count parts) {
  if (parts < 2) return {};
  const double joined = static_cast<double>(parts);
  if (level.topology == Topology::kFullyConnected) return {joined - 1, joined - 1};
  const Grid grid = GridOf(level, joined);
  return {grid.LinksPerPart(), level.topology == Topology::kMesh ? grid.MeanLinksWithoutWraps() : grid.LinksPerPart()};
}

namespace {

// The least tiers that join all leaves.
void ExplainTiers(const SwitchTree& tree, double endpoints, double ports, double oversubscription, double leaves,
                  Trace& trace) {
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
    trace.Record("tiers", "ceil((endpoints - 1) / ports)", tiers,
                 Note{"Tiers of switches", "a single switch joins all"}, "endpoints, ports", endpoints, ports);
    trace.Record("tree_switches", "tiers", tree_switches, Note{"Switches of a plane", "one joins all"}, "tiers", tiers);
    return tree_switches;
  }
  const double half = ports / 2;
  if (oversubscription == 1) {
    trace.Record("down", "ports / 2", half, Note{"Ports of a leaf switch to its devices"}, "ports", ports);
  } else {
    FIGURE(trace, down, max(1.0, floor(ports * oversubscription / (1 + oversubscription))),
           (Note{"Ports of a leaf switch to its devices"}), ports, oversubscription);
  }
  const double down = oversubscription == 1 ? half : max(1.0, floor(ports * oversubscription / (1 + oversubscription)));
  FIGURE(trace, leaves, ceil(endpoints / down), (Note{"Leaf switches"}), endpoints, down);
  ExplainTiers(tree, endpoints, ports, oversubscription, leaves, trace);
  FIGURE(trace, up_links, endpoints / oversubscription, (Note{"Links out of the leaf switches"}), endpoints,
         oversubscription);
  trace.Record("tree_switches",
               "leaves + (tiers - 2) * ceil(up_links / (ports / 2) - 1e-9) + ceil(up_links / ports - 1e-9)",
               tree_switches, Note{"Switches of a plane", "leaves, tiers between, and the top"},
               "leaves, tiers, up_links, ports", leaves, tiers, up_links, ports);
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

// Dollars of the direct links of a level between `parts`, whose input is `path`.
Dollars PriceLinks(const NetworkLevel& level, Count parts, Count all, DollarsPerBandwidth link_price,
                   const std::string& path, Trace& trace) {
  const LinkCount links = CountLinks(level, parts);
  const double devices = static_cast<double>(all), inside_links = links.inside, mean_links = links.mean;
  const BytesPerSecond bandwidth = level.bandwidth;
  trace.Input("inside_links", inside_links, path + ".topology");
  trace.Input("mean_links", mean_links, path + (level.dims.empty() ? ".size" : ".dims"));
  FIGURE(trace, link_count, devices * mean_links / 2,
         (Note{"Direct links of this level", "each joins two devices; a mesh has none at its borders"}), devices,
         mean_links);
  FIGURE(trace, level_links, 2 * link_count * (bandwidth / inside_links * link_price),
         (Note{"Price of the direct links of this level",
               "each way at a device's bandwidth over the links of a device inside"}),
         link_count, bandwidth, inside_links, link_price);
  return level_links;
}

}  // namespace

Dollars PriceLevel(const NetworkLevel& level, Count parts, Count devices, const LevelPrices& prices) {
  if (parts < 2) return Dollars();
  if (!IsDirect(level.topology)) {
    return static_cast<double>(devices) * (level.bandwidth * (prices.link + prices.switch_port + prices.adapter));
  }
  Trace off = Trace::Off();
  return PriceLinks(level, parts, devices, prices.link, "", off);
}

namespace {

// A price of the system's inputs, or of the level's own port.
template <class T>
T Stated(const std::optional<T>& of_system, const T& of_port, const char* name, const char* symbol,
         const std::string& path, Trace& trace) {
  const T value = of_system.value_or(of_port);
  if (trace.on()) trace.Input(symbol, value, of_system ? std::string("cost.system.") + name : path + ".port." + name);
  return value;
}

// Dollars of a level's switches and cables, and what they draw.
struct SwitchedLevel {
  Dollars switches, cables;
  Watts power;
  int tiers = 0;
  double count = 0;
};
SwitchedLevel PriceSwitches(const NetworkLevel& level, double reached, const Cluster& cluster,
                            const SystemInputs& inputs, const std::string& path, Trace& trace) {
  const NetworkPort& port = level.port;
  const double devices = static_cast<double>(cluster.devices),
               devices_per_host = static_cast<double>(inputs.devices_per_host);
  const double oversubscription = level.oversubscription;
  const BytesPerSecond bandwidth = level.bandwidth, port_bandwidth = port.bandwidth;
  const Count switch_ports = Stated(inputs.switch_ports, port.switch_ports, "switch_ports", "ports", path, trace);
  const Dollars switch_price =
      Stated(inputs.switch_price, port.switch_price, "switch_price", "switch_price", path, trace);
  const double ports = static_cast<double>(switch_ports);
  const Watts switch_power = port.switch_power, optics_power = port.optics_power;
  if (trace.on()) {
    trace.Input("port_bandwidth", port_bandwidth, path + ".port.bandwidth");
    trace.Input("switch_power", switch_power, path + ".port.switch_power");
    trace.Input("optics_power", optics_power, path + ".port.optics_power");
  }
  FIGURE(trace, device_ports, bandwidth / port_bandwidth,
         (Note{"Ports of a device", "a fraction where devices share one"}), bandwidth, port_bandwidth);
  FIGURE(trace, groups, devices / reached, (Note{"Networks of this level"}), devices, reached);
  FIGURE(trace, planes, min(max(devices_per_host, 1.0), reached), (Note{"Switch planes", "one per device of a server"}),
         devices_per_host, reached);
  FIGURE(trace, endpoints, ceil(reached / planes), (Note{"Devices of a plane"}), reached, planes);
  const bool is_dragonfly = level.topology == Topology::kDragonfly;
  const SwitchTree tree = is_dragonfly ? BuildDragonfly(static_cast<Count>(endpoints), switch_ports)
                                       : BuildTree(static_cast<Count>(endpoints), switch_ports, oversubscription);
  const double tree_switches = is_dragonfly ? ExplainDragonfly(tree, endpoints, ports, trace)
                                            : ExplainTree(tree, endpoints, ports, oversubscription, trace);
  const Dollars cable_price =
      tree.tiers <= 1
          ? Stated(inputs.cables_one_tier, port.cables_one_tier, "cables_one_tier", "cable_price", path, trace)
      : tree.tiers == 2
          ? Stated(inputs.cables_two_tiers, port.cables_two_tiers, "cables_two_tiers", "cable_price", path, trace)
          : Stated(inputs.cables_three_tiers, port.cables_three_tiers, "cables_three_tiers", "cable_price", path,
                   trace);
  FIGURE(trace, switch_count, groups * (planes * device_ports * tree_switches),
         (Note{"Switches of this level", "a plane for each port of a device"}), groups, planes, device_ports,
         tree_switches);
  FIGURE(trace, level_switches, switch_count * switch_price, (Note{"Price of the switches of this level"}),
         switch_count, switch_price);
  FIGURE(trace, level_cables, devices * device_ports * cable_price,
         (Note{"Price of the cables of this level", "with as many tiers as it has"}), devices, device_ports,
         cable_price);
  const double link_tiers = tree.tiers;
  trace.Alias("link_tiers", link_tiers, "tiers");
  FIGURE(trace, level_power, switch_count * switch_power + devices * device_ports * link_tiers * optics_power,
         (Note{"Power of the switches and optics of this level", "a link per port and tier"}), switch_count,
         switch_power, devices, device_ports, link_tiers, optics_power);
  return {level_switches, level_cables, level_power, tree.tiers, switch_count};
}

// Wiring that is not bought by the port, of a device: links, and switches where they join the links.
Dollars PriceFabric(const NetworkLevel& level, BytesPerSecond bandwidth, DollarsPerBandwidth link_price,
                    const std::string& path, Trace& trace) {
  const DollarsPerBandwidth fabric_price = IsDirect(level.topology) ? DollarsPerBandwidth() : level.port.fabric_price;
  trace.Input("fabric_price", fabric_price, path + (IsDirect(level.topology) ? ".topology" : ".port.fabric_price"));
  FIGURE(
      trace, fabric, bandwidth * (link_price + fabric_price),
      (Note{"Price of the links and their switches, of a device", "by bandwidth", "LIBRA (Won et al., ISPASS 2024)"}),
      bandwidth, link_price, fabric_price);
  return fabric;
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

void BindSizes(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  trace.Input("devices", static_cast<double>(cluster.devices), "cluster.devices");
  trace.Input("devices_per_host", static_cast<double>(inputs.devices_per_host), "cost.system.devices_per_host");
  // What a cluster without levels of a kind has of it.
  for (const char* symbol : {"inside", "adapters"}) trace.Input(symbol, Dollars(), "cluster.networks");
  for (const char* symbol : {"inside_power", "adapter_power", "outside_power"})
    trace.Input(symbol, Watts(), "cluster.networks");
}

void BindLevel(const NetworkLevel& level, const std::string& path, Trace& trace) {
  trace.Input("size", static_cast<double>(std::max<Count>(level.size, 1)), path + ".size");
  trace.Input("bandwidth", level.bandwidth, path + ".bandwidth");
  trace.Input("oversubscription", level.oversubscription, path + ".oversubscription");
}

// What a device has inside its server: bandwidth of wiring that is not bought by the port, and adapters. What the
// server's own price and power hold of it is taken off, so that only the difference is paid for.
struct InsideServer {
  Dollars price;
  Watts power;
};
InsideServer PriceInside(const NetworkLevel& level, const SystemInputs& inputs, const std::string& path, Trace& trace) {
  if (!inputs.fabric_included) return {};
  const BytesPerSecond bandwidth = level.bandwidth, fabric_included = *inputs.fabric_included;
  const JoulesPerByte fabric_energy = level.port.fabric_energy;
  const DollarsPerBandwidth link_price =
      Stated(inputs.link_price, level.port.link_price, "link_price", "link_price", path, trace);
  if (trace.on()) {
    trace.Input("fabric_included", fabric_included, "cost.system.fabric_included");
    trace.Input("fabric_energy", fabric_energy, path + ".port.fabric_energy");
  }
  FIGURE(trace, more_bandwidth, bandwidth - fabric_included,
         (Note{"Bandwidth beyond what the server's price includes", "negative where it has less"}), bandwidth,
         fabric_included);
  trace.Alias("bandwidth", more_bandwidth, "more_bandwidth");
  const Dollars fabric = PriceFabric(level, more_bandwidth, link_price, path, trace);
  FIGURE(trace, fabric_power, more_bandwidth * fabric_energy,
         (Note{"Power of the links and their switches beyond what the server's power includes, of a device"}),
         more_bandwidth, fabric_energy);
  return {fabric, fabric_power};
}
InsideServer PriceAdapters(const NetworkLevel& level, const std::string& path, Trace& trace) {
  const BytesPerSecond bandwidth = level.bandwidth, port_bandwidth = level.port.bandwidth;
  const Dollars adapter_price = level.port.adapter_price;
  const Watts adapter_power = level.port.adapter_power;
  if (trace.on()) {
    trace.Input("port_bandwidth", port_bandwidth, path + ".port.bandwidth");
    trace.Input("adapter_price", adapter_price, path + ".port.adapter_price");
    trace.Input("adapter_power", adapter_power, path + ".port.adapter_power");
  }
  FIGURE(trace, level_adapters, bandwidth / port_bandwidth * adapter_price,
         (Note{"Price of a device's adapters to this level"}), bandwidth, port_bandwidth, adapter_price);
  FIGURE(trace, level_adapter_power, bandwidth / port_bandwidth * adapter_power,
         (Note{"Power of a device's adapters to this level"}), bandwidth, port_bandwidth, adapter_power);
  return {level_adapters, level_adapter_power};
}

}  // namespace

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  if (trace.on()) BindSizes(cluster, inputs, trace);
  RunningSum<Dollars> switches(trace, "switches", "switches_before", Note{"Switches so far"});
  RunningSum<Dollars> cables(trace, "cables", "cables_before", Note{"Cables so far"});
  RunningSum<Dollars> links(trace, "links", "links_before", Note{"Direct links so far"});
  RunningSum<Watts> power(trace, "outside_power", "power_before", Note{"Power outside the servers so far"});
  RunningSum<Dollars> adapters(trace, "adapters", "adapters_before", Note{"Adapters of a device so far"});
  RunningSum<Watts> adapter_power(trace, "adapter_power", "adapter_power_before",
                                  Note{"Power of a device's adapters so far"});
  RunningSum<Dollars> inside(trace, "inside", "inside_before", Note{"Links inside the server, of a device, so far"});
  RunningSum<Watts> inside_power(trace, "inside_power", "inside_power_before",
                                 Note{"Power of the links inside the server, of a device, so far"});
  NetworkCost cost;
  const double devices = static_cast<double>(cluster.devices);
  double below = 1;  // devices that the levels so far join
  for (std::size_t i = 0; i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    const Trace::Scope scope(trace, level.name);
    const double size = static_cast<double>(std::max<Count>(level.size, 1));
    const std::string path = "cluster.networks." + std::to_string(i);
    if (trace.on()) {
      BindLevel(level, path, trace);
      trace.Alias("below", below, "reached");
    }
    const double reached = Reached(devices, below, size, i == 0, trace);
    const Count parts = static_cast<Count>(std::ceil(reached / below));
    const bool is_unused = reached <= below;
    const bool is_inside = reached <= static_cast<double>(inputs.devices_per_host) || is_unused;
    below = reached;
    if (level.port.bandwidth.base() > 0) {
      const InsideServer nics = PriceAdapters(level, path, trace);
      adapters.Add("level_adapters", nics.price);
      adapter_power.Add("level_adapter_power", nics.power);
    }
    if (is_inside) {
      if (is_unused || level.port.bandwidth.base() > 0) continue;
      const InsideServer more = PriceInside(level, inputs, path, trace);
      inside.Add("fabric", more.price);
      inside_power.Add("fabric_power", more.power);
      continue;
    }
    const DollarsPerBandwidth link_price =
        Stated(inputs.link_price, level.port.link_price, "link_price", "link_price", path, trace);
    if (IsDirect(level.topology)) {
      links.Add("level_links", PriceLinks(level, parts, cluster.devices, link_price, path, trace));
      continue;
    }
    if (level.port.bandwidth.base() <= 0) {
      const Dollars fabric = PriceFabric(level, level.bandwidth, link_price, path, trace);
      FIGURE(trace, level_links, devices * fabric, (Note{"Price of the links and switches of this level"}), devices,
             fabric);
      links.Add("level_links", level_links);
      continue;
    }
    const SwitchedLevel priced = PriceSwitches(level, reached, cluster, inputs, path, trace);
    switches.Add("level_switches", priced.switches);
    cables.Add("level_cables", priced.cables);
    power.Add("level_power", priced.power);
    cost.tiers = std::max(cost.tiers, priced.tiers);
    cost.switch_count += static_cast<Count>(std::ceil(priced.count));
  }
  cost.switches = switches.sum();
  cost.cables = cables.sum();
  cost.links = links.sum();
  cost.power = power.sum();
  cost.adapters = adapters.sum();
  cost.adapter_power = adapter_power.sum();
  cost.inside = inside.sum();
  cost.inside_power = inside_power.sum();
  return cost;
}

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs) {
  Trace off = Trace::Off();
  return PriceNetwork(cluster, inputs, off);
}

}  // namespace slipstick
