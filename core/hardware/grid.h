// The grid that a network level's direct wires form: its sides, and the links of its parts.
#pragma once

#include <array>

#include "core/hardware/network.h"

namespace slipstick {

inline constexpr int kMaxSides = 24;  // of a mesh or torus; of a hypercube, so 2^24 parts

// Lengths of a grid's sides, each 1 until it is set.
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

  // Of a part inside, over which its bandwidth is divided: to both neighbors along a side; one where two parts are
  // joined directly.
  [[nodiscard]] double LinksPerPart() const;
  // Of a part in the mean, where nothing joins the borders: k - 1 links along a side of k parts.
  [[nodiscard]] double MeanLinksWithoutWraps() const;
};

// Of a level that joins `parts`: a ring's one side, the sides that are stated, or those nearest to a square or a cube.
Grid GridOf(const NetworkLevel& level, double parts);

}  // namespace slipstick
