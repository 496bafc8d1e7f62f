// Placement of a group of ranks on the levels of the network.
#pragma once

#include <string_view>
#include <vector>

#include "core/hardware/cluster.h"

namespace slipstick {

// extent[i]: number of parts that the group spans on network level i, innermost first: {8, 4} is four nodes with eight
// ranks each; 1: the group does not use the level. The product is the group's size. spacing[i]: distance between these
// parts, in parts of level i; groups in between share the wires of a ring, mesh or torus. Empty: all 1.
struct GroupPlacement {
  std::vector<Ratio> extent, spacing;
  // Ranks of the mapping's innermost group, which fills whole sides of the torus slice: the slice and the order of its
  // sides are chosen for it. The same for all groups, so that they agree on the slice. 1: the slice nearest to a cube.
  Ratio innermost = 1;
  bool is_alone = false;  // no other group runs at the same time: the slice of a grid holds only this group's ranks
  [[nodiscard]] Ratio Ranks() const {
    Ratio ranks = 1;
    for (const Ratio e : extent) ranks *= e;
    return ranks;
  }
};

struct Degree {
  std::string_view name;  // "tp", "cp", …
  double size;
};

// The group `name` of a mapping whose degrees are listed innermost first: its stride is the product of the degrees
// before it. A degree that does not divide a node leaves the remainder of the node unused; ranks beyond the outermost
// level are joined by that level.
GroupPlacement PlaceGroup(const Cluster& cluster, const std::vector<Degree>& order, std::string_view name);

// The group of the first `ranks` devices: the fewest units of each level that hold them, filled evenly.
GroupPlacement PlaceFirst(const Cluster& cluster, double ranks);

}  // namespace slipstick
