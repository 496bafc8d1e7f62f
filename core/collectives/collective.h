// Time of a collective over a group of ranks on the cluster's network levels.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/trace.h"
#include "core/collectives/collective_types.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

// Time of the requested algorithm, or of the fastest that applies. Zero for a group of one; never below bytes over bandwidth. Where the
// algorithm that the cluster names cannot run, the fastest one's, and `applies` is false.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace);

// Names of the algorithms that apply, in the order of the table.
std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);

// A pattern that a group of ranks uses, by its largest message.
struct CollectiveUse {
  std::string_view group;  // "tp"
  CollectiveType pattern = CollectiveType::kAllReduce;
  double ranks = 1;
  Bytes bytes;
  std::string_view algorithm;
  Seconds time;
  bool applies = true;                       // false: the algorithm that the cluster names cannot run here
  std::vector<std::string_view> possible{};  // then: those that can
};

// What an evaluation asks of the network, each pattern of a group once, in the order of first use.
class CollectiveLog {
 public:
  void Add(std::string_view group_name, const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);
  [[nodiscard]] const std::vector<CollectiveUse>& uses() const { return uses_; }

 private:
  std::vector<CollectiveUse> uses_;
};

// Algorithms that the cluster names and that cannot run where they are used.
void CheckAlgorithms(const CollectiveLog& log, Issues& issues);
// Whether the cluster names any.
bool NamesAlgorithm(const CollectiveChoice& choice);

}  // namespace slipstick
