#include "core/collectives/grid_slice.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>

namespace slipstick {
namespace {

using Order = std::array<int, kMaxSides>;

// Closes sides to rings: whole sides, and with optical switches also the sides of a slice of whole cubes.
void Close(const NetworkLevel& level, const Grid& whole, const Order& order, GridSlice& slice) {
  const auto cube = static_cast<double>(level.wrap_every);
  bool is_switched = cube > 0;
  for (int i = 0; i < whole.sides && is_switched; ++i) is_switched = std::fmod(slice.side[i], cube) == 0;
  for (int i = 0; i < whole.sides; ++i) {
    const bool has_wire = is_switched || slice.side[i] == whole.side[order[i]];
    slice.closed[i] = level.topology != Topology::kMesh && slice.side[i] > 2 && has_wire;
  }
}

Order InOrder() {
  Order order{};
  std::iota(order.begin(), order.end(), 0);
  return order;
}

GridSlice NearestToCube(const NetworkLevel& level, const Grid& whole, double parts) {
  GridSlice slice;
  double size = 1;
  bool fits = true;
  slice.side = BlockOf(parts, whole.side, whole.sides);
  for (int i = 0; i < whole.sides; ++i) {
    size *= whole.side[i];
    fits &= slice.side[i] <= whole.side[i];
  }
  if (parts >= size || !fits) slice.side = whole.side;
  Close(level, whole, InOrder(), slice);
  return slice;
}

constexpr int kOrderedSides = 3;  // number of sides up to which grids are ordered to suit a mapping

// Fills `count` sides of `order`, from side `first` on, with `parts` parts; false if they do not fit.
bool Fill(const NetworkLevel& level, const Grid& whole, const Order& order, int first, int count, double parts,
          GridSlice& slice) {
  if (count == 0) return parts == 1;
  Sides dims;
  // Optical switches join cubes to sides of any length.
  for (int i = 0; i < count; ++i)
    dims[i] = level.wrap_every > 0 ? static_cast<double>(level.size) : whole.side[order[first + i]];
  const Sides block = BlockOf(parts, dims, count);
  double product = 1;
  for (int i = 0; i < count; ++i) {
    if (block[i] > dims[i]) return false;
    product *= slice.side[first + i] = block[i];
  }
  return product == parts;
}

// Whether the slice can be cut: slices of optically switched grids consist of whole cubes, or lie within one cube.
bool IsCut(const NetworkLevel& level, const GridSlice& slice, int sides) {
  const auto cube = static_cast<double>(level.wrap_every);
  if (cube == 0) return true;
  bool in_one = true, of_whole = true;
  for (int i = 0; i < sides; ++i) {
    in_one &= slice.side[i] <= cube;
    of_whole &= std::fmod(slice.side[i], cube) == 0;
  }
  return in_one || of_whole;
}

// A smaller rank suits the innermost ranks better; these fill the first `inner` sides.
std::tuple<int, double, double> RankOf(const GridSlice& slice, int inner, int sides) {
  int open = 0;
  double links = 0, longest = 1;
  for (int i = 0; i < sides; ++i) {
    longest = std::max(longest, slice.side[i]);
    if (i >= inner) continue;
    open += slice.side[i] > 2 && !slice.closed[i];
    links += slice.closed[i] ? 2 : slice.side[i] > 1 ? 1 : 0;
  }
  return {open, longest, -links};
}

}  // namespace

Sides BlockOf(double devices, const Sides& dims, int sides) {
  Sides block;
  Count left = static_cast<Count>(devices);
  while (left > 1) {
    assert(sides > 0);
    Count factor = 2;
    while (left % factor != 0 && factor * factor < left) ++factor;
    if (left % factor != 0) factor = left;
    int shortest = -1;
    for (int i = 0; i < sides; ++i) {
      if (block[i] * static_cast<double>(factor) > dims[i]) continue;
      if (shortest < 0 || block[i] < block[shortest]) shortest = i;
    }
    block[shortest < 0 ? sides - 1 : shortest] *= static_cast<double>(factor);
    left /= factor;
  }
  return block;
}

GridSlice SliceOf(const NetworkLevel& level, const Grid& whole, double parts, double innermost) {
  GridSlice best = NearestToCube(level, whole, parts);
  const bool is_ordered = level.topology == Topology::kTorus || level.topology == Topology::kMesh;
  if (!is_ordered || whole.sides > kOrderedSides || innermost <= 1 || std::fmod(parts, innermost) != 0) return best;
  std::tuple<int, double, double> best_rank{kOrderedSides + 1, 0, 0};
  Order order = InOrder();
  do {
    for (int inner = 1; inner <= whole.sides; ++inner) {
      GridSlice slice;
      const bool fits = Fill(level, whole, order, 0, inner, innermost, slice) &&
                        Fill(level, whole, order, inner, whole.sides - inner, parts / innermost, slice) &&
                        IsCut(level, slice, whole.sides);
      if (!fits) continue;
      Close(level, whole, order, slice);
      const std::tuple<int, double, double> rank = RankOf(slice, inner, whole.sides);
      if (!(rank < best_rank)) continue;
      best = slice;
      best_rank = rank;
    }
  } while (std::next_permutation(order.begin(), order.begin() + whole.sides));
  return best;
}

}  // namespace slipstick
