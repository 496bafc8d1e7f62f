#include "core/collectives/group_view.h"

#include <vector>

#include "core/base/figure.h"
#include "core/hardware/leaf.h"

namespace slipstick {

bool IsGrid(const LevelView& view) { return IsGrid(view.level->topology); }

bool ReachesCore(const LevelView& view) { return view.level->topology == Topology::kFatTree && view.leaf < view.ranks; }

Ratio NarrowingOf(const LevelView& view, Ratio leaving) {
  if (!ReachesCore(view)) return 1;
  return Figure("Time on the links out of a leaf over that on a rank's own",
                max(1, view.level->oversubscription * leaving),
                "oversubscription, times the share of the ranks' bytes that leaves the leaf");
}

Ratio NarrowingOfRing(const LevelView& view, Ratio inside) { return NarrowingOf(view, 1 / (view.leaf * inside)); }

namespace {

// Links of a grid usable by a group of `view.ranks`. The cluster may be a slice of the level's whole grid. `spacing`:
// parts of the grid from one rank of the group to the next. If these parts fill whole sides, the group has the other
// sides to itself; otherwise it shares its wires with the groups in between.
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
    view.spacing = max(view.spacing.base(), inside);
    view.side[view.sides] = side;
    view.wrapped[view.sides] = is_wrapped;
    ++view.sides;
    used += is_wrapped ? 2 : side > 1 ? 1 : 0;
  }
  view.link = level.bandwidth / whole.LinksPerPart() / view.spacing;
  view.injection = view.link * max(1.0, used);
  view.latency = level.latency * view.spacing;
}

// The part of a group on one level.
struct LevelGroup {
  Ratio ranks = 1, spacing = 1, innermost = 1;
  bool is_alone = false;
};

// Ranks of a group per leaf of a fat tree, if they are `spacing` units apart. `below`: devices in one unit.
Ratio RanksPerLeaf(const NetworkLevel& level, const Cluster& cluster, Ratio spacing, Ratio below) {
  const Ratio units = max(Ratio(cluster.devices), Ratio(cluster.installed)) / below;
  return max(1, WholeBelow(GroupsPerLeaf(level, units, below) / spacing));
}

LevelView LevelViewOf(const NetworkLevel& level, int index, const LevelGroup& group, double devices) {
  const auto& [ranks, spacing, innermost, is_alone] = group;
  LevelView view;
  view.level = &level;
  view.fabric = &*level.fabric;
  view.latency = level.latency;
  view.apart = spacing;
  view.index = index;
  view.ranks = ranks;
  if (level.topology == Topology::kTorus || level.topology == Topology::kMesh) view.innermost = innermost;
  view.side[0] = ranks;
  view.link = view.injection = level.bandwidth;
  // A node has all its wires, even if fewer of its devices are used. Between nodes the network is as large as the
  // cluster, unless its sides are stated.
  const double size = index == 0 || !level.dims.empty() ? static_cast<double>(level.size) : max(devices, ranks.base());
  if (IsGrid(level.topology)) {
    SetGridLinks(level, is_alone && spacing == 1 ? ranks.base() : devices, size, spacing, view);
  } else if (level.topology == Topology::kFullyConnected) {
    view.link = level.bandwidth / max(1.0, max(size, ranks) - 1);
    view.injection = view.link * (ranks - 1);
  }
  return view;
}

}  // namespace

Ratio OfBlock(std::string_view title, Ratio found, const LevelView& view, std::string_view note) {
  if (view.devices.node() == nullptr) return found;
  const NetworkLevel& level = *view.level;
  std::vector<Ground> block{view.ranks, view.devices, Ratio(level.wrap_every), view.apart, view.innermost};
  if (level.dims.empty()) block.emplace_back(Ratio(level.size));
  for (const Tally side : level.dims) block.emplace_back(Ratio(side));
  return Procedure(title, found, block, note);
}

void RestOnBlock(LevelView& view) {
  const NetworkLevel& level = *view.level;
  if (!IsGrid(view) && level.topology != Topology::kFullyConnected) return;
  const auto share_of = [&](BytesPerSecond bandwidth) { return Ratio(bandwidth.base() / level.bandwidth.base()); };
  if (view.spacing != 1) {
    view.spacing = OfBlock("Wires to the next rank of the group", view.spacing.base(), view);
    view.latency = Exactly(view.latency.base(), level.latency * view.spacing);
  }
  if (view.link != level.bandwidth) {
    const Ratio share = OfBlock("Share of a rank's bandwidth on the link to the next", share_of(view.link), view);
    view.link = Exactly(view.link.base(), level.bandwidth * share);
  }
  if (view.injection == level.bandwidth) return;
  const Ratio used = OfBlock("Links of a rank that lead into its group", share_of(view.injection), view,
                             "over all its links; its share of those that other groups use too");
  view.injection = Figure("Usable bandwidth of a rank", Exactly(view.injection.base(), level.bandwidth * used));
}

WireLoad WireLoadOf(const LevelView& view) {
  if (view.level->topology == Topology::kDragonfly) return {1, 3};  // to the gateway, between groups, from the gateway
  if (ReachesCore(view)) return {NarrowingOf(view, (view.ranks - view.leaf) / (view.ranks - 1)), 1};
  if (!IsGrid(view)) return {};
  WireLoad load;
  double hops = 0;
  Seconds busiest;
  for (int i = 0; i < view.sides; ++i) {
    const double side = view.side[i];
    if (side <= 1) continue;
    // Bytes on the busiest link per byte that a rank sends, including its own block.
    const double on_link =
        view.wrapped[i] ? (side * side - std::fmod(side, 2)) / (8 * side) : floor(side * side / 4) / side;
    busiest = max(busiest, on_link * kB / view.link);
    hops += view.wrapped[i] ? floor(side / 2) : side - 1;
  }
  const double ranks = view.ranks;
  load.detour =
      OfBlock("Detour of an all-to-all", max(1.0, (busiest * view.injection / (1 * kB)).base() * ranks / (ranks - 1)),
              view, "bytes on the busiest wires over those that a rank sends");
  load.hops = OfBlock("Wires on the longest route", max(1.0, hops), view);
  return load;
}

NeighborWire NeighborOf(const Cluster& cluster, std::size_t index, Ratio spacing, Ratio span, Ratio innermost) {
  Ratio below = 1;
  for (std::size_t i = 0; i < index; ++i) below *= cluster.networks[i].size;
  const NetworkLevel& level = cluster.networks[index];
  const double parts = min(static_cast<double>(cluster.devices) / below, static_cast<double>(level.size));
  LevelView view = LevelViewOf(level, static_cast<int>(index), {2, spacing, max(1.0, innermost / below)}, parts);
  view.devices = cluster.devices;
  NeighborWire wire{view.link.base() / level.bandwidth.base(), IsGrid(view) ? view.spacing : WireLoadOf(view).hops};
  if (wire.share != 1) wire.share = OfBlock("Share of the bandwidth on the wire to the next rank", wire.share, view);
  if (level.topology != Topology::kFatTree) return wire;
  view.leaf = RanksPerLeaf(level, cluster, spacing, below);
  view.ranks = max(1, span / spacing);
  wire.share /= NarrowingOfRing(view);
  return wire;
}

GroupView ViewOf(const GroupPlacement& group, const Cluster& cluster) {
  GroupView view;
  Ratio below = 1;  // devices in one unit of the level
  for (std::size_t i = 0; i < group.extent.size() && i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    const Ratio ranks = group.extent[i];
    const Ratio units = Ratio(cluster.devices) / below, devices_in_unit = below;
    const Ratio innermost = group.is_alone ? ranks : max(1.0, group.innermost / below);
    below *= level.size;
    if (ranks <= 1) continue;
    view.ranks *= ranks;
    if (i > 0) view.nodes *= ranks;
    if (view.count == kMaxLevels) {
      view.levels[kMaxLevels - 1].ranks *= ranks;
      continue;
    }
    const Ratio spacing = i < group.spacing.size() ? group.spacing[i] : Ratio(1);
    LevelView& own = view.levels[view.count++];
    own = LevelViewOf(level, static_cast<int>(i), {ranks, spacing, innermost, group.is_alone},
                      min(units, static_cast<double>(level.size)));
    own.devices = cluster.devices;
    if (level.topology == Topology::kFatTree)
      own.leaf = min(ranks, RanksPerLeaf(level, cluster, spacing, devices_in_unit));
    if (own.devices.node() != nullptr) RestOnBlock(own);
  }
  if (view.count > 0) {
    const LevelView& first = view.levels[0];
    view.has_scale_up = first.index == 0 && !first.fabric->scales_out;
  }
  return view;
}

}  // namespace slipstick
