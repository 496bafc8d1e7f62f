// The grid that a network level's direct wires form: its sides, and the links of its parts.
#pragma once

#include <algorithm>
#include <array>

#include "core/hardware/network.h"

namespace slipstick {

inline constexpr int kMaxSides = 24;  // of a mesh or torus; of a hypercube, so 2^24 parts

// Lengths of a grid's sides, each 1 until it is set.
struct Sides : std::array<double, kMaxSides> {
  Sides() { fill(1); }
};

constexpr bool IsGrid(Topology topology) {
  return topology == Topology::kRing || topology == Topology::kTorus || topology == Topology::kMesh || topology == Topology::kHypercube;
}

struct Grid {
  Sides side;
  int sides = 1;

  // Of a part inside, over which its bandwidth is divided: to both neighbors along a side; one where two parts are joined directly.
  [[nodiscard]] double LinksPerPart() const;
  // Of a part in the mean, where nothing joins the borders: k - 1 links along a side of k parts.
  [[nodiscard]] double MeanLinksWithoutWraps() const;
};

inline double Grid::LinksPerPart() const {
  double links = 0;
  for (int i = 0; i < sides; ++i) links += side[i] > 2 ? 2 : side[i] > 1 ? 1 : 0;
  return std::max(1.0, links);
}

inline double Grid::MeanLinksWithoutWraps() const {
  double links = 0;
  for (int i = 0; i < sides; ++i) links += 2 * (side[i] - 1) / side[i];
  return links;
}

namespace internal {

// Sides of a grid that states none: a square below 64 parts and a cube from there on, or the nearest to it that the factors allow.
inline Grid NearCube(Count size) {
  Grid grid;
  grid.sides = size < 64 ? 2 : 3;
  for (int left = grid.sides; left > 1; --left) {
    Count side = 1;  // the largest divisor up to the root
    const auto power = [left](Count base) { return left == 3 ? base * base * base : base * base; };
    for (Count next = 2; power(next) <= size; ++next) {
      if (size % next == 0) side = next;
    }
    grid.side[left - 1] = static_cast<double>(side);
    size /= side;
  }
  grid.side[0] = static_cast<double>(size);
  return grid;
}

// A side of two for every factor of two, then the other prime factors.
inline Grid CubeOf(Count size) {
  Grid grid;
  grid.sides = 0;
  for (Count factor = 2; size > 1 && grid.sides < kMaxSides; ++factor) {
    if (factor * factor > size) factor = size;
    for (; size % factor == 0 && grid.sides < kMaxSides; size /= factor) grid.side[grid.sides++] = static_cast<double>(factor);
  }
  grid.sides = std::max(grid.sides, 1);
  return grid;
}

}  // namespace internal

// Of a level that joins `parts`: a ring's one side, the sides that are stated, or those nearest to a square or a cube.
inline Grid GridOf(const NetworkLevel& level, double parts) {
  Grid grid;
  if (level.topology == Topology::kRing) {
    grid.side[0] = parts;
    return grid;
  }
  if (level.topology == Topology::kHypercube) return internal::CubeOf(static_cast<Count>(parts));
  if (level.dims.empty()) return internal::NearCube(static_cast<Count>(parts));
  grid.sides = static_cast<int>(std::min<std::size_t>(level.dims.size(), kMaxSides));
  for (std::size_t i = 0; i < level.dims.size(); ++i) {
    grid.side[std::min<std::size_t>(i, kMaxSides - 1)] *= static_cast<double>(level.dims[i]);
  }
  return grid;
}

}  // namespace slipstick
