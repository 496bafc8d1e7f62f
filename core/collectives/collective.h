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
// bandwidth. Where the algorithm that the cluster names cannot run, the fastest one's, and `applies` is false.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);
// The same for a group as it sees the network.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupView& group, const CollectiveChoice& choice);

// Names of the algorithms that apply, in the order of the table.
std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group,
                                            const Cluster& cluster);

// Index in cluster.networks of the level whose wires take a group longest at their stated bandwidth: the outermost of
// equals, the innermost for a group of one. In a gather or reduction, a level carries what each of the ranks below it
// holds; in an exchange, what leaves them. A message crosses all levels on its way.
std::size_t SlowestLevel(CollectiveType type, const GroupPlacement& group, const Cluster& cluster);

// Time on one level of the network, or on the links to the host.
struct NetworkLevelTime {
  std::string level;  // its name
  Seconds time;
};
// Times by level, one for each of the cluster's in their order.
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

// A pattern that a group of ranks uses, with its largest message.
struct CollectiveUse {
  std::string_view group;  // "tp"
  CollectiveType pattern = CollectiveType::kAllReduce;
  double ranks = 1;
  Bytes bytes;
  std::string_view algorithm;
  Seconds time;
  std::string level;                         // name of the one that SlowestLevel says
  bool applies = true;                       // false: the algorithm that the cluster names cannot run here
  std::vector<std::string_view> possible{};  // then: those that can
};

// What an evaluation asks of the network, each pattern of a group once, in the order of first use.
class CollectiveLog {
 public:
  void Add(std::string_view group_name, const CollectiveCall& call, const GroupPlacement& group,
           const Cluster& cluster);
  [[nodiscard]] const std::vector<CollectiveUse>& uses() const { return uses_; }

 private:
  std::vector<CollectiveUse> uses_;
};

// Algorithms that the cluster names and that cannot run where they are used.
void CheckAlgorithms(const CollectiveLog& log, Issues& issues);
// Whether the cluster names any.
bool NamesAlgorithm(const CollectiveChoice& choice);

}  // namespace slipstick
