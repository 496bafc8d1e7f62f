// The slice of a ring, mesh, torus or hypercube on which a mapping runs: the lengths of its sides, in the order in
// which ranks fill them.
#pragma once

#include <array>

#include "core/hardware/grid.h"

namespace slipstick {

// Sides of a block of `devices` in a grid with these dims: as close to a cube as the factors allow.
Sides BlockOf(double devices, const Sides& dims, int sides);

struct GridSlice {
  Sides side;
  std::array<bool, kMaxSides> closed{};  // the side is a ring
};

// The slice of `parts` parts of a mesh or torus. A user picks a slice whose sides fit the axes of the mapping (JAX's
// create_device_mesh maps an axis to whole sides). Among the slices whose first sides hold exactly the `innermost`
// ranks, the one with the fewest of these sides open; then the nearest to a cube; then the one with most links for
// these ranks. If there is none, the slice nearest to a cube.
GridSlice SliceOf(const NetworkLevel& level, const Grid& whole, double parts, double innermost);

}  // namespace slipstick
