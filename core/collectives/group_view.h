// What a group sees of the network: the levels it spans, with the links that it can use of each.
#pragma once

#include <array>

#include "core/collectives/fabric.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

inline constexpr int kMaxSides = 4;   // of a mesh or torus
inline constexpr int kMaxLevels = 4;  // further ones count as part of the last

struct LevelView {
  const NetworkLevel* level = nullptr;
  int place = 0;     // in cluster.networks
  double ranks = 1;  // parts of the group that the level joins
  // Mesh, torus, ring: the block that the group covers. Other topologies: one side.
  std::array<double, kMaxSides> side{1, 1, 1, 1};
  std::array<bool, kMaxSides> wrapped{};
  int sides = 1;
  BytesPerSecond link;       // of one link, one direction
  BytesPerSecond injection;  // one direction, of a rank, over the links that lead to other members
  double leaf = 1;           // fat tree: ranks below one leaf switch
};

struct GroupView {
  std::array<LevelView, kMaxLevels> levels;  // only those with more than one rank, innermost first
  int count = 0;
  double ranks = 1;
  bool has_inner = false;  // levels[0] is a scale-up network (nvlink, pcie, …), not one of NICs
};
GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster);

// Sides of the block of `devices` in a torus or mesh with these dims: as near to a cube as its factors allow.
std::array<double, kMaxSides> BlockOf(double devices, const std::array<double, kMaxSides>& dims, int sides);

}  // namespace slipstick
