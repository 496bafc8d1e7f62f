// The network as a group of ranks sees it: the levels it spans, with the usable links of each.
#pragma once

#include <array>

#include "core/collectives/fabric.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

inline constexpr int kMaxSides = 4;   // of a mesh or torus
inline constexpr int kMaxLevels = 4;  // further levels count as part of the last

struct LevelView {
  const NetworkLevel* level = nullptr;
  int index = 0;     // in cluster.networks
  double ranks = 1;  // parts of the group joined by the level
  // Mesh, torus, ring: the block covered by the group. Other topologies: one side.
  std::array<double, kMaxSides> side{1, 1, 1, 1};
  std::array<bool, kMaxSides> wrapped{};
  int sides = 1;
  BytesPerSecond link;       // per link, one direction
  BytesPerSecond injection;  // per rank, one direction, over all links to other members
  double leaf = 1;           // fat tree: ranks per leaf switch
};

struct GroupView {
  std::array<LevelView, kMaxLevels> levels;  // only those with more than one rank, innermost first
  int count = 0;
  double ranks = 1;
  double devices = 1;         // of the cluster
  bool has_scale_up = false;  // levels[0] is a scale-up network (NVLink, PCIe, …), not a network of NICs
};
GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster);

// Sides of the block of `devices` in a torus or mesh with these dims: as close to a cube as the factors allow.
std::array<double, kMaxSides> BlockOf(double devices, const std::array<double, kMaxSides>& dims, int sides);

}  // namespace slipstick
