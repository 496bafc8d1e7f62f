#include "core/collectives/group_view.h"

#include <algorithm>

namespace slipstick {
namespace {

bool IsGrid(Topology topology) { return topology == Topology::kRing || topology == Topology::kMesh || topology == Topology::kTorus; }

// Links per device along one side of a grid: to both neighbors; one where two devices are joined directly.
double LinksAlong(double length) { return length > 2 ? 2 : length > 1 ? 1 : 0; }

struct Shape {
  std::array<double, kMaxSides> side{1, 1, 1, 1};
  int sides = 1;
};

Shape ShapeOf(const NetworkLevel& level) {
  Shape shape;
  if (level.dims.empty() || level.topology == Topology::kRing) {
    shape.side[0] = static_cast<double>(level.size);
    return shape;
  }
  shape.sides = static_cast<int>(std::min<std::size_t>(level.dims.size(), kMaxSides));
  for (std::size_t i = 0; i < level.dims.size(); ++i) {
    shape.side[std::min<std::size_t>(i, kMaxSides - 1)] *= static_cast<double>(level.dims[i]);
  }
  return shape;
}

// Links of a grid usable by a group of `view.ranks`. The cluster may be a block of the level's whole grid.
void SetGridLinks(const NetworkLevel& level, double devices, LevelView& view) {
  const Shape whole = ShapeOf(level);
  double links = 0;
  for (int i = 0; i < whole.sides; ++i) links += LinksAlong(whole.side[i]);
  view.link = level.bandwidth / max(1.0, links);
  view.sides = whole.sides;
  const bool is_part = devices < static_cast<double>(level.size);
  const std::array<double, kMaxSides> block = is_part ? BlockOf(devices, whole.side, whole.sides) : whole.side;
  double left = view.ranks, used = 0;
  for (int i = 0; i < whole.sides; ++i) {
    const bool is_last = i + 1 == whole.sides;
    view.side[i] = is_last ? max(1.0, left) : min(left, block[i]);
    left = max(1.0, left / view.side[i]);
    const bool is_closed =
        whole.side[i] == block[i] || (level.wrap_every > 0 && std::fmod(block[i], static_cast<double>(level.wrap_every)) == 0);
    view.wrapped[i] = level.topology != Topology::kMesh && view.side[i] >= block[i] && is_closed && view.side[i] > 2;
    used += view.wrapped[i] ? 2 : view.side[i] > 1 ? 1 : 0;
  }
  view.injection = view.link * max(1.0, used);
}

LevelView LevelViewOf(const NetworkLevel& level, int index, double ranks, double devices) {
  LevelView view;
  view.level = &level;
  view.index = index;
  view.ranks = ranks;
  view.side[0] = ranks;
  view.link = view.injection = level.bandwidth;
  const double size = static_cast<double>(level.size);
  if (IsGrid(level.topology)) {
    SetGridLinks(level, devices, view);
  } else if (level.topology == Topology::kFullyConnected) {
    view.link = level.bandwidth / max(1.0, max(size, ranks) - 1);
    view.injection = view.link * (ranks - 1);
  } else if (level.topology == Topology::kFatTree) {
    view.leaf = level.dims.empty() ? 1 : min(ranks, static_cast<double>(level.dims[0]));
  }
  return view;
}

}  // namespace

std::array<double, kMaxSides> BlockOf(double devices, const std::array<double, kMaxSides>& dims, int sides) {
  std::array<double, kMaxSides> block{1, 1, 1, 1};
  Count left = static_cast<Count>(devices);
  while (left > 1) {
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

GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster) {
  GroupView view;
  view.devices = static_cast<double>(cluster.devices);
  double below = 1;  // devices per group of the level below
  for (std::size_t i = 0; i < group.extent.size() && i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    const double ranks = group.extent[i];
    const double units = static_cast<double>(cluster.devices) / below;
    below *= static_cast<double>(level.size);
    if (ranks <= 1) continue;
    view.ranks *= ranks;
    if (view.count == kMaxLevels) {
      view.levels[kMaxLevels - 1].ranks *= ranks;
      continue;
    }
    view.levels[view.count++] = LevelViewOf(level, static_cast<int>(i), ranks, min(units, static_cast<double>(level.size)));
  }
  if (view.count > 0) {
    const LevelView& first = view.levels[0];
    view.has_scale_up = first.index == 0 && !first.level->fabric->scales_out;
  }
  return view;
}

}  // namespace slipstick
