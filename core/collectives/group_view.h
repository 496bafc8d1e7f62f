// The network as a group of ranks sees it: the levels it spans, with the usable links of each.
#pragma once

#include <array>
#include <string_view>

#include "core/collectives/fabric.h"
#include "core/collectives/grid_slice.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

inline constexpr int kMaxLevels = 4;  // further levels count as part of the last

struct LevelView {
  const NetworkLevel* level = nullptr;
  const FabricConstants* fabric = nullptr;  // constants of the level
  int index = 0;                            // position in cluster.networks
  Ratio ranks = 1;                          // units of the level that the group spans
  // Sides of the block that the group covers on a mesh, torus, hypercube or ring. Other topologies have one side.
  Sides side;
  std::array<bool, kMaxSides> wrapped{};
  int sides = 1;
  Ratio apart = 1;           // distance from one rank of the group to the next, in units of the level
  Ratio spacing = 1;         // part of that distance on wires that the groups in between also use
  Ratio innermost = 1;       // ranks of the mapping's innermost group on the level; they determine the slice of a torus
  Ratio devices = 1;         // devices of the cluster
  BytesPerSecond link;       // bandwidth to the next rank, one direction; the group's share
  BytesPerSecond injection;  // bandwidth of a rank over all its links to other members, one direction
  Seconds latency;           // latency to the next rank
  Ratio leaf = 1;            // ranks of the group per leaf switch of a fat tree
};

bool IsGrid(const LevelView& view);
// Whether the view is of a fat tree and its group does not lie under one leaf.
bool ReachesCore(const LevelView& view);
// Time on the links out of a fat tree's leaf over that on the ranks' own, if the share `leaving` of what they send does
// so. 1 for a group that lies under one leaf, and on other topologies.
Ratio NarrowingOf(const LevelView& view, Ratio leaving);
// The same for rings and trees: of the ranks under a leaf one sends to another leaf. `inside`: ranks of the group in a
// unit of the level, if only one of them sends to other units.
Ratio NarrowingOfRing(const LevelView& view, Ratio inside = 1);

// Records a value computed from the shape of the group's block in a grid, or from the number of its direct wires, so
// that explanations show all numbers that determine the shape.
Ratio OfBlock(std::string_view title, Ratio found, const LevelView& view, std::string_view note = "");
// Records the links of a view likewise, if its ranks, distances and level have nodes.
void RestOnBlock(LevelView& view);

struct GroupView {
  std::array<LevelView, kMaxLevels> levels;  // only levels with more than one rank, innermost first
  int count = 0;
  Ratio ranks = 1;
  Ratio nodes = 1;            // units of the group that the levels beyond the cluster's first join
  bool has_scale_up = false;  // levels[0] is a scale-up network (NVLink, PCIe, …), not a network of NICs
};
GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster);

// Load of an all-to-all on the wires between ranks; both are 1 through one switch and on direct wires to every peer.
struct WireLoad {
  Ratio detour = 1;  // time on the busiest wires relative to a rank's own wires
  Ratio hops = 1;    // wires on the longest route
};
WireLoad WireLoadOf(const LevelView& view);

// Route from a device to the one `spacing` units further along a level.
struct NeighborWire {
  // Fraction of a device's bandwidth that the route uses: all of it through a switch, one of two links on a ring, one
  // of two per side on a torus, one of the direct wires if fully connected.
  Ratio share = 1;
  Ratio hops = 1;  // wires that the route crosses
};
// `span`: units of the level from the first device of such a route to the last of a chain of them.
NeighborWire NeighborOf(const Cluster& cluster, std::size_t index, Ratio spacing, Ratio span, Ratio innermost = 1);

}  // namespace slipstick
