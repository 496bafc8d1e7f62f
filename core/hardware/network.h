// The interconnect: network levels from the innermost out, each with its topology.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/catalogue_entry.h"
#include "core/base/field.h"
#include "core/base/tally.h"

namespace slipstick {

// If the number of parts is not a power of two, the sides of a hypercube are its prime factors, closed to rings as in a
// torus.
enum class Topology { kRing, kMesh, kTorus, kHypercube, kFullyConnected, kSwitch, kFatTree, kRail, kDragonfly };
ENUM_NAMES(Topology, {kRing, "ring"}, {kMesh, "mesh"}, {kTorus, "torus"}, {kHypercube, "hypercube"},
           {kFullyConnected, "fully_connected"}, {kSwitch, "switch"}, {kFatTree, "fat_tree"}, {kRail, "rail"},
           {kDragonfly, "dragonfly"});

// The fabric has the protocol constants that a level does not state itself: a file of core/presets/fabrics.
struct FabricConstants;  // collectives/fabric.h
using Fabric = CatalogueEntry<FabricConstants>;
extern template class CatalogueEntry<FabricConstants>;

// Prices and power of a network generation: a file of core/presets/ports. A level takes as many ports per device as its
// bandwidth needs, or a fraction if devices share one. Wiring without a price per port (inside servers and racks,
// direct links on the board) has a port bandwidth of 0 and a price per bandwidth.
struct NetworkPort {
  std::string preset = "infiniband-ndr";
  std::string name;
  BytesPerSecond bandwidth;  // one direction; 0: not priced per port
  Dollars adapter_price;
  Watts adapter_power;
  Tally switch_ports = 2;
  Dollars switch_price;
  Watts switch_power;       // without optics
  Dollars cables_one_tier;  // cables and optics per port of a device
  Dollars cables_two_tiers;
  Dollars cables_three_tiers;
  Watts optics_power;                // per link, both ends
  DollarsPerBandwidth link_price;    // per bandwidth of a device on direct links, one end of each
  DollarsPerBandwidth fabric_price;  // added if a switch joins the links and there is no price per port
  JoulesPerByte fabric_energy;       // of links and switches without a price per port
};

struct NetworkLevel {
  std::string name = "network";
  Fabric fabric;
  Topology topology = Topology::kSwitch;
  Tally size = 8;  // groups of the level below (devices, for the innermost) joined by this level
  BytesPerSecond bandwidth = 450 * kGBps;  // one direction, per device
  Seconds latency = 1 * kUs;               // per message between neighbors; through a switch, both links
  std::vector<Tally> dims;     // sides of a mesh or torus; for a fat tree, the first is the ranks per leaf switch
  Tally wrap_every = 0;        // torus: block sides that are multiples of it close to rings (optical switches)
  Ratio oversubscription = 1;  // fat tree: bandwidth into the leaves relative to that out of them
  bool in_network_reduction = false;  // NVLS, SHARP
  // Measured constants of the communication library; absent: the fabric's (collectives/fabric.h).
  std::optional<Seconds> base_latency;      // t0: per collective
  std::optional<Seconds> hop_latency;       // alpha: per ring step in the library; absent: latency
  std::optional<Ratio> bandwidth_fraction;  // bandwidth efficiency of large messages
  std::optional<Ratio> reduction_fraction;  // u_N: bandwidth efficiency of in-network reduction
  std::optional<Ratio> copy_fraction;       // c_A: rate of a rank's own block in an all-to-all, over the link bandwidth
  NetworkPort port;
};

template <>
struct Schema<NetworkPort> {
  static constexpr std::string_view preset_kind = "port";
  static const Fields fields;
};

FIELDS_OF(NetworkLevel);

}  // namespace slipstick
