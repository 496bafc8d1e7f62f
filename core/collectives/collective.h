// Time of a collective over a group of ranks that spans some levels of the cluster's network.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/trace.h"
#include "core/hardware/cluster.h"
#include "core/operators/kernel.h"

namespace slipstick {

enum class Pattern { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kSendReceive };
template <>
struct EnumNames<Pattern> {
  static constexpr std::array<std::pair<Pattern, std::string_view>, 6> names{{{Pattern::kAllReduce, "all_reduce"},
                                                                              {Pattern::kAllGather, "all_gather"},
                                                                              {Pattern::kReduceScatter, "reduce_scatter"},
                                                                              {Pattern::kAllToAll, "all_to_all"},
                                                                              {Pattern::kBroadcast, "broadcast"},
                                                                              {Pattern::kSendReceive, "send_recv"}}};
};

// How a group's ranks lie on the levels: extent[i] members of the group share one unit of level i (1: it does not use the
// level), innermost first; the product is the group's size.
struct GroupPlacement {
  std::vector<double> extent;
  [[nodiscard]] double Ranks() const {
    double ranks = 1;
    for (const double e : extent) ranks *= e;
    return ranks;
  }
};

// Places the groups of a mapping on a cluster. `order` lists degrees innermost first with their names.
struct Degree {
  std::string_view name;  // "tp", "cp", …
  double size;
};
GroupPlacement PlaceGroup(const Cluster& cluster, const std::vector<Degree>& order, std::string_view name);
// A group of the first `ranks` devices.
GroupPlacement PlaceFirst(const Cluster& cluster, double ranks);

struct CollectiveCall {
  Pattern pattern = Pattern::kAllReduce;
  Bytes bytes;  // as nccl-tests counts (contract, section 1)
  std::string_view algorithm = "auto";
  std::string_view library = "nccl";
};

struct CollectiveTime {
  Seconds time;
  Seconds latency;             // of it, what does not depend on the size
  std::string_view algorithm;  // the one chosen
  Bytes bytes;                 // a rank sends over its links
};
// The fastest algorithm that applies, or the one asked for. 0 for a group of one.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace);

}  // namespace slipstick
