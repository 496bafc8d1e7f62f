// Switches, cables and links by topology and number of tiers.
#pragma once

#include "core/economics/system_inputs.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Non-blocking trees of k-port switches: 1 tier up to k endpoints, 2 up to k^2/2, 3 up to k^3/4, and so on.
struct SwitchTree {
  Ratio tiers, switches;
  Ratio links;  // per port of a device, its own one and those between switches
};
// Oversubscription reduces the uplinks of each tier. With two tiers, a leaf divides its uplinks evenly over the spines,
// as in NVIDIA's DGX SuperPOD: 24 leaves with 32 uplinks each have 16 spines, not 12.
// `in_leaf`: endpoints that a leaf joins, over one or several switches; 0: as many as fill one.
SwitchTree BuildTree(Ratio endpoints, Ratio ports, Ratio oversubscription = 1, Ratio in_leaf = 0);

// A balanced dragonfly: a quarter of a router's ports goes to devices, a quarter to other groups, half to its own.
SwitchTree BuildDragonfly(Ratio endpoints, Ratio ports);

struct NetworkCost {
  Dollars switches, cables, links;
  Watts power;     // of the switches and optics outside the servers
  Dollars inside;  // per device: links and switches inside a server beyond those that its price includes
  Watts inside_power;
  Dollars adapters;  // per device
  Watts adapter_power;
  Ratio tiers;  // of the outermost switched level
  Ratio switch_count;
};
// Levels beyond a host: switched levels form one tree per plane and port of a device, direct ones are priced by their
// links. Levels inside a host: only the part that the host's price does not include. Some devices of a larger cluster
// pay for their share of its network.
NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs);

// Links of a level per device (both directions count as one link, each link joins two devices). `inside`: of a device
// in the interior, over which its bandwidth is divided; `mean`: the mean over all devices, which is lower for a mesh
// because of its borders.
struct LinkCount {
  Ratio inside, mean;
};
// Counts the direct wires between `parts`.
LinkCount CountLinks(const NetworkLevel& level, Ratio parts);

}  // namespace slipstick
