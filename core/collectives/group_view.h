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
  const FabricConstants* fabric = nullptr;  // of the level
  int index = 0;                            // in cluster.networks
  Ratio ranks = 1;                          // parts of the group joined by the level
  // Mesh, torus, hypercube, ring: the block covered by the group. Other topologies: one side.
  Sides side;
  std::array<bool, kMaxSides> wrapped{};
  int sides = 1;
  Ratio apart = 1;           // parts of the level from a rank to the next one of the group
  Ratio spacing = 1;         // of them, on wires that the groups in between use too
  Ratio innermost = 1;       // ranks of the mapping's innermost group on the level: they decide the slice of a torus
  Ratio devices = 1;         // of the cluster
  BytesPerSecond link;       // from a rank to the next, one direction: the group's share
  BytesPerSecond injection;  // per rank, one direction, over all links to other members
  Seconds latency;           // from a rank to the next
  double leaf = 1;           // fat tree: ranks per leaf switch
};

bool IsGrid(const LevelView& view);

// A value found from the shape of the group's block in a grid, or from the number of its direct wires. Explanations
// show that it depends on all that decides that shape.
Ratio OfBlock(std::string_view title, Ratio found, const LevelView& view, std::string_view note = "");
// The same for the links of a view whose ranks, distances and level remember.
void RestOnBlock(LevelView& view);

struct GroupView {
  std::array<LevelView, kMaxLevels> levels;  // only those with more than one rank, innermost first
  int count = 0;
  Ratio ranks = 1;
  Ratio nodes = 1;            // of them, parts joined by the levels beyond the first of the cluster
  bool has_scale_up = false;  // levels[0] is a scale-up network (NVLink, PCIe, …), not a network of NICs
};
GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster);

// Load of an all-to-all on the wires between ranks: 1 and 1 through switches and on direct wires to every peer.
struct WireLoad {
  Ratio detour = 1;  // time on the busiest wires over that on a rank's own
  Ratio hops = 1;    // wires on the longest route
};
WireLoad WireLoadOf(const LevelView& view);

// Route from a device to the one that is `spacing` parts further along a level.
struct NeighborWire {
  Ratio share = 1;  // of a device's bandwidth: a ring has two links, a torus two a side, direct wires one a peer;
                    // through a switch all
  Ratio hops = 1;   // wires in a row
};
NeighborWire NeighborOf(const Cluster& cluster, std::size_t index, Ratio spacing, Ratio innermost = 1);

}  // namespace slipstick
