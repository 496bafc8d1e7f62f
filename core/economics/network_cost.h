// Switches, cables and links by topology and number of tiers.
#pragma once

#include "core/economics/system_inputs.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Non-blocking trees of k-port switches: 1 tier up to k endpoints, 2 up to k^2/2, 3 up to k^3/4, and so on.
struct SwitchTree {
  Ratio tiers, switches;
};
// Oversubscription divides the links that go up from each tier.
SwitchTree BuildTree(Ratio endpoints, Ratio ports, Ratio oversubscription = 1);

// A balanced dragonfly: a quarter of a router's ports to devices and to other groups each, half to its own group.
SwitchTree BuildDragonfly(Ratio endpoints, Ratio ports);

struct NetworkCost {
  Dollars switches, cables, links;
  Watts power;     // of the switches and optics outside the servers
  Dollars inside;  // links and switches inside a server beyond what its price includes, of a device
  Watts inside_power;
  Dollars adapters;  // all of a device's
  Watts adapter_power;
  Ratio tiers;  // of the outermost switched level
  Ratio switch_count;
};
// Levels that reach beyond a host: switched ones as rail planes (one a port of a host's devices) of their own tree,
// direct ones by their links. Levels inside a host: what they have beyond that which the host's price includes.
NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs);

// Links of a level, both directions in one, over the devices that it joins: those of a device inside, over which its
// bandwidth is divided, and those of a device in the mean, of which a mesh's borders have fewer. Each link joins two
// devices.
struct LinkCount {
  Ratio inside, mean;
};
// Counts the direct wires between `parts`.
LinkCount CountLinks(const NetworkLevel& level, Ratio parts);

// LIBRA's prices per bandwidth: dollars of a level that joins `parts`, for `devices` in all. Direct links are counted,
// each way at its share of a device's bandwidth; a switched device has its port, link and adapter at the full
// bandwidth.
struct LevelPrices {
  DollarsPerBandwidth link, switch_port, adapter;
};
Dollars PriceLevel(const NetworkLevel& level, Ratio parts, Ratio devices, const LevelPrices& prices);

}  // namespace slipstick
