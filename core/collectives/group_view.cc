#include "core/collectives/group_view.h"

#include <algorithm>

namespace slipstick {
bool IsGrid(const LevelView& view) { return IsGrid(view.level->topology); }

namespace {

// Links of a grid usable by a group of `view.ranks`. The cluster may be a slice of the level's whole grid.
// `spacing`: parts of the grid from one rank of the group to the next. Where they fill whole sides, the group has the
// other sides to itself; else the groups in between share its wires.
void SetGridLinks(const NetworkLevel& level, double parts, double size, double spacing, LevelView& view) {
  const Grid whole = GridOf(level, size);
  const GridSlice slice = SliceOf(level, whole, min(parts, size), view.innermost);
  double left = view.ranks, between = spacing, used = 0;
  view.sides = 0;
  for (int i = 0; i < whole.sides; ++i) {
    const bool is_last = i + 1 == whole.sides;
    // parts of this side from one rank to the next
    const double inside = is_last ? between : min(between, slice.side[i]);
    between = max(1.0, between / inside);
    const double room = max(1.0, floor(slice.side[i] / inside));
    const double side = is_last ? max(1.0, left) : min(left, room);
    left = max(1.0, left / side);
    if (side <= 1 && !(is_last && view.sides == 0)) continue;
    const bool is_wrapped = side >= room && slice.closed[i] && side > 2;
    view.spacing = max(view.spacing, inside);
    view.side[view.sides] = side;
    view.wrapped[view.sides] = is_wrapped;
    ++view.sides;
    used += is_wrapped ? 2 : side > 1 ? 1 : 0;
  }
  view.link = level.bandwidth / whole.LinksPerPart() / view.spacing;
  view.injection = view.link * max(1.0, used);
  view.latency = level.latency * view.spacing;
}

// What a group asks of one level.
struct LevelGroup {
  double ranks = 1, spacing = 1, innermost = 1;
  bool is_alone = false;
};

LevelView LevelViewOf(const NetworkLevel& level, int index, const LevelGroup& group, double devices) {
  const auto& [ranks, spacing, innermost, is_alone] = group;
  LevelView view;
  view.level = &level;
  view.latency = level.latency;
  view.apart = spacing;
  view.index = index;
  view.ranks = ranks;
  if (level.topology == Topology::kTorus || level.topology == Topology::kMesh) view.innermost = innermost;
  view.side[0] = ranks;
  view.link = view.injection = level.bandwidth;
  // Inside a node the wires are the node's, all of them. Between nodes they are laid for the nodes there are, unless
  // the sides are stated.
  const double size = index == 0 || !level.dims.empty() ? static_cast<double>(level.size) : max(devices, ranks);
  if (IsGrid(level.topology)) {
    SetGridLinks(level, is_alone && spacing == 1 ? ranks : devices, size, spacing, view);
  } else if (level.topology == Topology::kFullyConnected) {
    view.link = level.bandwidth / max(1.0, max(size, ranks) - 1);
    view.injection = view.link * (ranks - 1);
  } else if (level.topology == Topology::kFatTree) {
    view.leaf = level.dims.empty() ? 1 : min(ranks, static_cast<double>(level.dims[0]));
  }
  return view;
}

}  // namespace

WireLoad WireLoadOf(const LevelView& view) {
  if (view.level->topology == Topology::kDragonfly) return {1, 3};  // to the gateway, between groups, from the gateway
  if (!IsGrid(view)) return {};
  WireLoad load;
  double hops = 0;
  Seconds busiest;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    // Bytes on the busiest link per byte sent by a rank, its own block included.
    const double on_link =
        view.wrapped[i] ? (side * side - std::fmod(side, 2)) / (8 * side) : floor(side * side / 4) / side;
    busiest = max(busiest, on_link * kB / view.link);
    hops += view.wrapped[i] ? floor(side / 2) : side - 1;
  }
  const double ranks = view.ranks;
  load.detour = max(1.0, busiest * view.injection / (1 * kB) * ranks / (ranks - 1));
  load.hops = max(1.0, hops);
  return load;
}

NeighborWire NeighborOf(const Cluster& cluster, std::size_t index, double spacing, double innermost) {
  double below = 1;
  for (std::size_t i = 0; i < index; ++i) below *= static_cast<double>(cluster.networks[i].size);
  const NetworkLevel& level = cluster.networks[index];
  const double parts = min(static_cast<double>(cluster.devices) / below, static_cast<double>(level.size));
  const LevelView view = LevelViewOf(level, static_cast<int>(index), {2, spacing, max(1.0, innermost / below)}, parts);
  NeighborWire wire{view.link / level.bandwidth, IsGrid(view) ? view.spacing : WireLoadOf(view).hops};
  const double leaf = level.dims.empty() ? 1 : static_cast<double>(level.dims[0]);
  if (level.topology == Topology::kFatTree && spacing >= leaf) wire.share /= level.oversubscription;
  return wire;
}

GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster) {
  GroupView view;
  view.devices = static_cast<double>(cluster.devices);
  double below = 1;  // devices per group of the level below
  for (std::size_t i = 0; i < group.extent.size() && i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    const double ranks = group.extent[i];
    const double units = static_cast<double>(cluster.devices) / below;
    const double innermost = group.is_alone ? ranks : max(1.0, group.innermost / below);
    below *= static_cast<double>(level.size);
    if (ranks <= 1) continue;
    view.ranks *= ranks;
    if (view.count == kMaxLevels) {
      view.levels[kMaxLevels - 1].ranks *= ranks;
      continue;
    }
    const double spacing = i < group.spacing.size() ? group.spacing[i] : 1;
    view.levels[view.count++] = LevelViewOf(level, static_cast<int>(i), {ranks, spacing, innermost, group.is_alone},
                                            min(units, static_cast<double>(level.size)));
  }
  if (view.count > 0) {
    const LevelView& first = view.levels[0];
    view.has_scale_up = first.index == 0 && !first.level->fabric->scales_out;
  }
  return view;
}

}  // namespace slipstick
