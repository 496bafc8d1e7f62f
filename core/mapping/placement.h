// Where the ranks of a group lie on the levels of the network.
#pragma once

#include <string_view>
#include <vector>

#include "core/hardware/cluster.h"

namespace slipstick {

// extent[i] is how many parts of the group level i joins, innermost first: with {8, 4} four nodes hold eight ranks each.
// 1: the group does not use the level. The product is the group's size.
struct GroupPlacement {
  std::vector<double> extent;
  [[nodiscard]] double Ranks() const {
    double ranks = 1;
    for (const double e : extent) ranks *= e;
    return ranks;
  }
};

struct Degree {
  std::string_view name;  // "tp", "cp", …
  double size;
};

// The group `name` of a mapping whose degrees are listed innermost first. Its neighbours lie as far apart as the product
// of the degrees before it. A degree that does not divide a node leaves the node's remainder unused; levels that the
// cluster does not state are taken to be more of the outermost one.
GroupPlacement PlaceGroup(const Cluster& cluster, const std::vector<Degree>& order, std::string_view name);

// A group of the first `ranks` devices: as few units of every level as hold them, filled evenly.
GroupPlacement PlaceFirst(const Cluster& cluster, double ranks);

}  // namespace slipstick
