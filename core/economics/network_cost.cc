#include "core/economics/network_cost.h"

#include <cmath>

#include "core/base/figure.h"
#include "core/hardware/grid.h"
#include "core/hardware/leaf.h"

namespace slipstick {
namespace {

// The fewest spines, `enough` or more, that take the same number of uplinks from each leaf.
double EvenSpines(double enough, double uplinks) {
  double spines = enough;
  while (spines < uplinks && std::fmod(uplinks, spines) != 0) ++spines;
  return spines;
}

}  // namespace

SwitchTree BuildTree(Ratio endpoints, Ratio ports, Ratio oversubscription, Ratio in_leaf) {
  const Ratio half = ports / 2, fits = PortsDown(ports, oversubscription);
  Ratio down = fits, up = ports - fits, joined = ports;
  if (in_leaf > 0) {
    down = Figure("Ports of a leaf switch that lead to devices", in_leaf / WholeAbove(in_leaf / fits),
                  "one switch, or as many as the leaf's devices need");
    up = Figure("Ports of a leaf switch that lead to the core", min(up, WholeAbove(down / oversubscription)));
    joined = min(ports, in_leaf);
  }
  const Ratio leaves = Figure("Leaf switches", WholeAbove(endpoints / down));
  int fewest = endpoints > joined ? 2 : endpoints > 1 ? 1 : 0;
  for (double reach = ports; fewest > 1 && fewest < 17 && leaves > reach; reach *= half) ++fewest;
  const Ratio tiers =
      Procedure<Ratio>("Tiers of switches", fewest, {InSteps(endpoints), InSteps(ports), InSteps(leaves)},
                       "the fewest that reach every device of a plane");
  if (fewest <= 1) return {tiers, tiers, tiers};  // one switch joins all
  const Ratio uplinks = Figure("Links out of the leaf switches", endpoints / oversubscription);
  const Ratio enough = Figure("Switches that hold the links at the top", WholeAbove(uplinks / ports));
  const Ratio links = oversubscription == 1 ? tiers
                                            : Figure("Links per port of a device", 1 + (tiers - 1) / oversubscription,
                                                     "its own, and its share of those between the tiers");
  if (fewest == 2) {
    const Ratio spines = Procedure<Ratio>("Spine switches", EvenSpines(enough.base(), std::floor(up.base())),
                                          {InSteps(enough), InSteps(ports), InSteps(down)},
                                          "each leaf has as many links to each of them");
    return {tiers, Figure("Switches of a plane", leaves + spines, "leaves and spines"), links};
  }
  return {tiers,
          Figure("Switches of a plane", leaves + (tiers - 2) * WholeAbove(uplinks / half) + enough,
                 "leaves, tiers between, and the top"),
          links};
}

SwitchTree BuildDragonfly(Ratio endpoints, Ratio ports) {
  if (endpoints <= ports) return BuildTree(endpoints, ports);
  const Ratio to_devices =
      Figure("Ports of a router to its devices", max(1, floor((ports + 1) / 4)), "balanced: a quarter of the ports",
             "Kim et al., Technology-driven, highly-scalable dragonfly topology, 2008");
  return {
      2, Figure("Routers of a plane", ceil(endpoints / to_devices)),
      Figure("Links per port of a device", 1 + (3 * to_devices - 1) / (2 * to_devices),
             "its own; a router has as many ports to other groups as to devices, and one less than twice as many to "
             "its group, and two of them make a link")};
}

LinkCount CountLinks(const NetworkLevel& level, Ratio parts) {
  if (parts < 2) return {};
  if (level.topology == Topology::kFullyConnected) return {parts - 1, parts - 1};
  const Grid grid = GridOf(level, parts);
  const Ratio inside = Procedure<Ratio>("Links of a device inside this level", grid.LinksPerPart(), {parts},
                                        "to both neighbors along each side");
  if (level.topology != Topology::kMesh) return {inside, inside};
  return {inside, Procedure<Ratio>("Links of a device of this level, in the mean", grid.MeanLinksWithoutWraps(),
                                   {parts}, "the borders of a mesh have fewer")};
}

namespace {

bool IsDirect(Topology topology) { return IsGrid(topology) || topology == Topology::kFullyConnected; }

// Direct links, and the power of their optics: a port's link power in proportion to the bandwidth.
struct DirectLinks {
  Dollars price;
  Watts power;
};
DirectLinks PriceLinks(const NetworkLevel& level, Ratio parts, Ratio devices, DollarsPerBandwidth link_price) {
  const LinkCount links = CountLinks(level, parts);
  const Ratio count = Figure("Direct links of this level", devices * links.mean / 2,
                             "each joins two devices; a mesh has none at its borders");
  const BytesPerSecond bandwidth = Figure("Bandwidth of a direct link, one direction", level.bandwidth / links.inside,
                                          "a device's over its links; that of a device inside");
  DirectLinks direct{Figure("Price of the direct links of this level", 2 * count * (bandwidth * link_price)), {}};
  if (level.port.bandwidth > BytesPerSecond()) {
    direct.power = Figure("Power of the optics of the direct links",
                          count * (bandwidth / level.port.bandwidth) * level.port.optics_power);
  }
  return direct;
}

// Cables and optics per port of a device, stated for one, two and three links; for other numbers, linear through two.
Dollars PriceCables(Ratio links, const NetworkPort& port, const SystemInputs& inputs) {
  const Dollars one = inputs.cables_one_tier.value_or(port.cables_one_tier);
  const Dollars two = inputs.cables_two_tiers.value_or(port.cables_two_tiers);
  const Dollars three = inputs.cables_three_tiers.value_or(port.cables_three_tiers);
  if (links <= 1) return one;
  if (links == 2) return two;
  if (links == 3) return three;
  return Figure("Cables and optics per port of a device",
                links < 2 ? one + (links - 1) * (two - one) : two + (links - 2) * (three - two));
}

// Switches and cables of a level, and their power.
struct SwitchedLevel {
  Dollars switches, cables;
  Watts power;
  Ratio tiers, count;
};
// `below`: devices that the inner levels join, which forward the traffic of other planes.
SwitchedLevel PriceSwitches(const NetworkLevel& level, Ratio below, Ratio reached, Ratio devices,
                            const SystemInputs& inputs) {
  const NetworkPort& port = level.port;
  const Ratio ports = inputs.switch_ports.value_or(port.switch_ports);
  const Ratio device_ports =
      Figure("Ports of a device", level.bandwidth / port.bandwidth, "a fraction where devices share one");
  const Ratio planes = Figure("Switch planes", min(Ratio(inputs.switch_planes), below),
                              "separate trees of switches, no more than devices that are joined without them");
  const Ratio endpoints = Figure("Ports of a plane", ceil(reached * min(device_ports, 1) / planes),
                                 "one for each device, fewer where devices share one");
  const bool is_fat_tree = level.topology == Topology::kFatTree;
  const Ratio oversubscription = is_fat_tree ? level.oversubscription : Ratio(1);
  const Ratio in_leaf =
      is_fat_tree && !level.dims.empty()
          ? Figure("Ports of a plane in a leaf", Ratio(level.dims[0]) * below * min(device_ports, 1) / planes)
          : Ratio();
  const SwitchTree tree = level.topology == Topology::kDragonfly
                              ? BuildDragonfly(endpoints, ports)
                              : BuildTree(endpoints, ports, oversubscription, in_leaf);
  const Ratio count =
      Figure("Switches of this level", devices / reached * (planes * max(device_ports, 1) * tree.switches),
             "with several ports a device has one in each of as many trees");
  return {Figure("Price of the switches of this level", count * inputs.switch_price.value_or(port.switch_price)),
          Figure("Price of the cables of this level", devices * device_ports * PriceCables(tree.links, port, inputs)),
          Figure("Power of the switches and optics of this level",
                 count * port.switch_power + devices * device_ports * tree.links * port.optics_power),
          tree.tiers, count};
}

// Wiring without a price per port, per device: links, and switches if they join the links.
Dollars PriceFabric(const NetworkLevel& level, BytesPerSecond bandwidth, DollarsPerBandwidth link_price) {
  const DollarsPerBandwidth switch_price = IsDirect(level.topology) ? DollarsPerBandwidth() : level.port.fabric_price;
  return Figure("Price of the links and their switches, of a device", bandwidth * (link_price + switch_price),
                "by bandwidth", "LIBRA (Won et al., ISPASS 2024)");
}

// Adds the wiring inside a server that has no price per port. The part that the server's own price and power include is
// subtracted, so only the difference is paid for.
void AddInside(const NetworkLevel& level, const SystemInputs& inputs, DollarsPerBandwidth link_price,
               NetworkCost& cost) {
  if (!inputs.fabric_included) return;
  const BytesPerSecond more = Figure("Bandwidth beyond what the server's price includes",
                                     level.bandwidth - *inputs.fabric_included, "negative where it has less");
  cost.inside += PriceFabric(level, more, link_price);
  cost.inside_power +=
      Figure("Power of the links and their switches beyond what the server's power includes, of a device",
             more * level.port.fabric_energy);
}

// A device reaches outer levels through the adapters that it has for the first level of switches.
void AddAdapters(const NetworkLevel& level, NetworkCost& cost) {
  const NetworkPort& port = level.port;
  const Dollars price =
      Figure("Price of a device's adapters to this level", level.bandwidth / port.bandwidth * port.adapter_price);
  const Watts power =
      Figure("Power of a device's adapters to this level", level.bandwidth / port.bandwidth * port.adapter_power);
  if (price > cost.adapters) cost.adapters = price;
  if (power > cost.adapter_power) cost.adapter_power = power;
}

}  // namespace

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs) {
  NetworkCost cost;
  const bool is_part = cluster.installed > cluster.devices;
  const Ratio devices = is_part ? cluster.installed : cluster.devices;
  Ratio below = 1;  // devices joined by the levels so far
  for (const NetworkLevel& level : cluster.networks) {
    const bool is_outermost = &level == &cluster.networks.back();  // joins all, whatever its size
    const Ratio reached =
        is_outermost ? devices
                     : Figure("Devices that the levels so far join", min(devices, below * max(Ratio(level.size), 1)));
    const Ratio parts = Figure("Parts that this level joins", ceil(reached / below));
    const Ratio inside = below;
    const bool is_unused = reached <= below, is_by_port = level.port.bandwidth > BytesPerSecond();
    below = reached;
    const bool is_beyond = is_unused && cost.adapters > Dollars();  // a level that joins nothing needs no more
    if (is_by_port && !is_beyond) AddAdapters(level, cost);
    const DollarsPerBandwidth link_price = inputs.link_price.value_or(level.port.link_price);
    if (is_unused || reached <= Ratio(inputs.devices_per_host)) {
      if (!is_unused && !is_by_port) AddInside(level, inputs, link_price, cost);
    } else if (IsDirect(level.topology)) {
      const DirectLinks direct = PriceLinks(level, parts, devices, link_price);
      cost.links += direct.price;
      cost.power += direct.power;
    } else if (!is_by_port) {
      cost.links += Figure("Price of the links and switches of this level",
                           devices * PriceFabric(level, level.bandwidth, link_price));
      cost.power += Figure("Power of the links and switches of this level",
                           devices * (level.bandwidth * level.port.fabric_energy));
    } else {
      const SwitchedLevel priced = PriceSwitches(level, inside, reached, devices, inputs);
      cost.switches += priced.switches;
      cost.cables += priced.cables;
      cost.power += priced.power;
      cost.tiers = max(cost.tiers, priced.tiers);
      cost.switch_count += ceil(priced.count);
    }
  }
  if (!is_part) return cost;
  const Ratio share = Figure("Share of the network", Ratio(cluster.devices) / devices,
                             "some of its devices pay for their share of switches and cables, and of their power");
  cost.switches *= share;
  cost.cables *= share;
  cost.links *= share;
  cost.power *= share;
  return cost;
}

}  // namespace slipstick
