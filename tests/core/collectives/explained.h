// Collectives with the nodes of what a trace knows their terms by.
#pragma once

#include <array>

#include "core/base/bind_inputs.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"
#include "core/collectives/named_terms.h"

namespace slipstick::testing {

// A group on a network whose numbers have nodes.
class NamedGroup {
 public:
  NamedGroup(const GroupPlacement& group, const Cluster& cluster, Trace& trace) : cluster_(cluster) {
    BindInputs(cluster_.networks, "cluster.networks", trace);
    BindInputs(cluster_.devices, "cluster.devices", trace);
    view_ = ViewOf(group, cluster_);
    view_.ranks = trace.Carry("ranks", view_.ranks);
    view_.nodes = trace.Carry("nodes", view_.nodes);
    for (int i = 0; i < view_.count; ++i) Name(view_.levels[i], trace);
    if (view_.count == 1) view_.ranks = view_.levels[0].ranks;
  }
  NamedGroup(const NamedGroup&) = delete;  // the view points into the cluster and the fabrics
  NamedGroup& operator=(const NamedGroup&) = delete;
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const GroupView& view() const { return view_; }

 private:
  void Name(LevelView& level, Trace& trace) {
    FabricConstants& fabric = fabrics_[static_cast<std::size_t>(&level - view_.levels.data())];
    fabric = Named(*level.fabric, trace);
    level.fabric = &fabric;
    if (view_.count == 1) level.ranks = view_.ranks;
    level.ranks = trace.Carry(level.index == 0 ? "inner_ranks" : "nodes", level.ranks);
    if (level.apart > 1) level.apart = trace.Carry("spacing", level.apart);
    if (level.innermost > 1) level.innermost = trace.Carry("innermost", level.innermost);
    RestOnBlock(level);
  }

  Cluster cluster_;
  GroupView view_;
  std::array<FabricConstants, kMaxLevels> fabrics_;
};

// Names: bytes; ranks, of them inner_ranks in each of the nodes; in a grid the spacing of the group's ranks, and
// innermost, the ranks of the mapping's innermost group.
inline CollectiveTime ExplainedTime(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster,
                                    Trace& trace) {
  const NamedGroup named(group, cluster, trace);
  CollectiveCall carried = call;
  carried.bytes = trace.Carry("bytes", call.bytes);
  const CollectiveTime made = TimeOf(carried, named.view(), cluster.collectives);
  trace.Alias("collective_time", made.time, "time of this collective");
  return made;
}

}  // namespace slipstick::testing
