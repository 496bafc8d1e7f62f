// How devices are joined: levels from the innermost out, each of some topology.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/catalogue_entry.h"
#include "core/base/field.h"

namespace slipstick {

enum class Topology { kRing, kMesh, kTorus, kFullyConnected, kSwitch, kFatTree, kRail, kDragonfly };
template <>
struct EnumNames<Topology> {
  static constexpr std::array<std::pair<Topology, std::string_view>, 8> names{{{Topology::kRing, "ring"},
                                                                               {Topology::kMesh, "mesh"},
                                                                               {Topology::kTorus, "torus"},
                                                                               {Topology::kFullyConnected, "fully_connected"},
                                                                               {Topology::kSwitch, "switch"},
                                                                               {Topology::kFatTree, "fat_tree"},
                                                                               {Topology::kRail, "rail"},
                                                                               {Topology::kDragonfly, "dragonfly"}}};
};

// The link's family, which sets protocol constants where a level states none of its own: a file of core/presets/fabrics.
struct FabricConstants;  // collectives/fabric.h
using Fabric = CatalogueEntry<FabricConstants>;
extern template class CatalogueEntry<FabricConstants>;

struct NetworkLevel {
  std::string name = "network";
  Fabric fabric;
  Topology topology = Topology::kSwitch;
  Count size = 8;                          // members of the level below that this level joins
  BytesPerSecond bandwidth = 450 * kGBps;  // one direction, per device
  Seconds latency = 1 * kUs;               // a message from one member to the next; through a switch, both its links
  std::vector<Count> dims;                 // of a mesh or torus; of a fat tree its first is the ranks below a leaf
  Count wrap_every = 0;                    // torus: sides of a block that are multiples close to rings (optical switches)
  double oversubscription = 1;             // of a fat tree: what goes up, over what there is
  bool in_network_reduction = false;       // NVLS, SHARP
  // Measured constants of the library on this fabric; absent: the fabric's defaults (collectives/).
  std::optional<Seconds> base_latency;       // t0: one collective's fixed cost
  std::optional<Seconds> hop_latency;        // alpha: one step of a ring in the library; absent: latency
  std::optional<double> bandwidth_fraction;  // of large messages
  std::optional<double> reduction_fraction;  // u_N: of in-network reduction
  std::optional<double> copy_fraction;       // c_A: a rank's own block in an all-to-all, over the link's bandwidth
};

template <>
struct Schema<NetworkLevel> {
  static const Fields fields;
};

}  // namespace slipstick
