// The slice of a ring, mesh, torus or hypercube that a mapping runs on: the lengths of its sides, in the order in which
// ranks fill them.
#pragma once

#include <array>

#include "core/hardware/grid.h"

namespace slipstick {

// Sides of the block of `devices` in a grid with these dims: as close to a cube as the factors allow.
Sides BlockOf(double devices, const Sides& dims, int sides);

struct GridSlice {
  Sides side;
  std::array<bool, kMaxSides> closed{};  // to a ring
};

// The slice of `parts` of a mesh or torus. A user picks a slice whose sides the axes of the mesh fill (JAX's
// create_device_mesh maps an axis to whole sides): of those whose first sides hold just the `innermost` ranks, the one
// with the fewest of these sides open, then the nearest to a cube, then the one that gives these ranks most links.
// Where there is none, the nearest to a cube.
GridSlice SliceOf(const NetworkLevel& level, const Grid& whole, double parts, double innermost);

}  // namespace slipstick
