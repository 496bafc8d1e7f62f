// Time of a collective over a group of ranks on the cluster's network levels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/collectives/collective_types.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

struct GroupView;  // group_view.h

// Time of the requested algorithm, or of the fastest that applies. Zero for a group of one; never below bytes over
// bandwidth. If the algorithm that the cluster names cannot run, it is the fastest one's time, and `applies` is false.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);
// As above, for a group whose view of the network is known.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupView& group, const CollectiveChoice& choice);

// Names of the algorithms that apply, in the order of the table.
std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group,
                                            const Cluster& cluster);

// Index in cluster.networks of the level whose wires take a group longest at their stated bandwidth: the outermost
// among equals, the innermost for a group of one. In a gather or reduction, a level carries the data of each rank below
// it; in an exchange, the data that leave these ranks. A message crosses all levels on its way.
std::size_t SlowestLevel(CollectiveType type, const GroupPlacement& group, const Cluster& cluster);

// Time on one level of the network, or on the links to the host.
struct NetworkLevelTime {
  std::string level;  // its name
  Seconds time;
};
// Times by level, one per level of the cluster, in the cluster's order.
class NetworkLevelTimes {
 public:
  explicit NetworkLevelTimes(const Cluster& cluster) : cluster_(cluster), times_(cluster.networks.size()) {}
  void Add(std::size_t level, Seconds time) {
    if (level < times_.size()) times_[level] += time;
  }
  // `to_host`: time on the links to the host, listed last if there is any.
  [[nodiscard]] std::vector<NetworkLevelTime> List(Seconds to_host) const;

 private:
  const Cluster& cluster_;
  std::vector<Seconds> times_;
};

// A collective type that a group of ranks uses, with its largest message.
struct CollectiveUse {
  std::string_view group;  // "tp"
  CollectiveType pattern = CollectiveType::kAllReduce;
  double ranks = 1;
  Bytes bytes;
  std::string_view algorithm;
  Seconds time;
  std::string level;                         // name of the level from SlowestLevel
  bool applies = true;                       // false: the algorithm that the cluster names cannot run here
  std::vector<std::string_view> possible{};  // if not: the algorithms that can
};

// Collectives of an evaluation, each type of a group once, in the order of first use.
class CollectiveLog {
 public:
  void Add(std::string_view group_name, const CollectiveCall& call, const GroupPlacement& group,
           const Cluster& cluster);
  [[nodiscard]] const std::vector<CollectiveUse>& uses() const { return uses_; }

 private:
  std::vector<CollectiveUse> uses_;
};

// Reports algorithms that the cluster names but that cannot run where they are used.
void CheckAlgorithms(const CollectiveLog& log, Issues& issues);
// Whether the cluster names any algorithm.
bool NamesAlgorithm(const CollectiveChoice& choice);

}  // namespace slipstick
