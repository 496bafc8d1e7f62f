// The grid formed by the direct wires of a network level: its sides, and the links of its parts.
#pragma once

#include <array>

#include "core/hardware/network.h"

namespace slipstick {

inline constexpr int kMaxSides = 24;  // of a mesh or torus, or of a hypercube with up to 2^24 parts

// Lengths of a grid's sides, each 1 unless it is set.
struct Sides : std::array<double, kMaxSides> {
  Sides() { fill(1); }
};

constexpr bool IsGrid(Topology topology) {
  return topology == Topology::kRing || topology == Topology::kTorus || topology == Topology::kMesh ||
         topology == Topology::kHypercube;
}

struct Grid {
  Sides side;
  int sides = 1;

  // Links of an interior part, which share its bandwidth: to both neighbors along each side; one if a side has only two
  // parts.
  [[nodiscard]] double LinksPerPart() const;
  // Mean links per part if the borders are not joined: k - 1 links along a side of k parts.
  [[nodiscard]] double MeanLinksWithoutWraps() const;
};

// The grid of a level with `parts` parts: a ring's one side, the stated sides, or those nearest to a square or a cube.
Grid GridOf(const NetworkLevel& level, double parts);

}  // namespace slipstick
