// Time of a collective over a group of ranks on the cluster's network levels.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/trace.h"
#include "core/collectives/collective_types.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"

namespace slipstick {

// Time of the requested algorithm, or of the fastest that applies. Zero for a group of one; never below bytes over bandwidth.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace);

// Names of the algorithms that apply, in the order of the table.
std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);

}  // namespace slipstick
