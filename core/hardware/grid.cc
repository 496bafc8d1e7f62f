#include "core/hardware/grid.h"

#include <algorithm>

namespace slipstick {
namespace {

// Sides of a grid without stated sides: a square below 64 parts and a cube from 64 on, or the nearest shape that the
// factors allow.
Grid NearCube(Count size) {
  Grid grid;
  grid.sides = size < 64 ? 2 : 3;
  for (int left = grid.sides; left > 1; --left) {
    Count side = 1;  // the largest divisor up to the square or cube root
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

// A hypercube: a side of 2 for every factor of two, then the other prime factors.
Grid CubeOf(Count size) {
  Grid grid;
  grid.sides = 0;
  for (Count factor = 2; size > 1 && grid.sides < kMaxSides; ++factor) {
    if (factor * factor > size) factor = size;
    for (; size % factor == 0 && grid.sides < kMaxSides; size /= factor)
      grid.side[grid.sides++] = static_cast<double>(factor);
  }
  grid.sides = std::max(grid.sides, 1);
  return grid;
}

}  // namespace

double Grid::LinksPerPart() const {
  double links = 0;
  for (int i = 0; i < sides; ++i) links += side[i] > 2 ? 2 : side[i] > 1 ? 1 : 0;
  return std::max(1.0, links);
}

double Grid::MeanLinksWithoutWraps() const {
  double links = 0;
  for (int i = 0; i < sides; ++i) links += 2 * (side[i] - 1) / side[i];
  return links;
}

Grid GridOf(const NetworkLevel& level, double parts) {
  Grid grid;
  if (level.topology == Topology::kRing) {
    grid.side[0] = parts;
    return grid;
  }
  if (level.topology == Topology::kHypercube) return CubeOf(static_cast<Count>(parts));
  if (level.dims.empty()) return NearCube(static_cast<Count>(parts));
  grid.sides = static_cast<int>(std::min<std::size_t>(level.dims.size(), kMaxSides));
  for (std::size_t i = 0; i < level.dims.size(); ++i) {
    grid.side[std::min<std::size_t>(i, kMaxSides - 1)] *= static_cast<double>(level.dims[i]);
  }
  return grid;
}

}  // namespace slipstick
