// Where callers that name their terms meet the numbers of this folder, which remember: calls, groups and networks get
// the nodes of what a trace knows them by. It goes when no caller names its terms any more.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/trace.h"
#include "core/collectives/collective.h"
#include "core/collectives/moe_exchange.h"
#include "core/workload/model.h"

namespace slipstick {

// With the nodes of its constants.
FabricConstants Named(FabricConstants fabric, Trace& trace);

// The time is the figure "collective_time". Names: bytes; ranks, of them inner_ranks in each of the nodes; in a grid
// the spacing of the group's ranks, and innermost, the ranks of the mapping's innermost group.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace);

// The model's tokens on the links of a group. The caller sets the kernel, the tokens and the direction.
ExpertExchange ExchangeOf(const Model& model, const Cluster& cluster, const GroupPlacement& group, Trace& trace);
// The time is the figure "exchange_time". Names: tokens, held_experts, element_bytes, kernel_units.
ExpertExchangeTime TimeOf(const ExpertExchange& exchange, Trace& trace);

// Binds the share of a device's bandwidth on the wire to the next rank (NeighborOf).
void BindNeighborShare(std::string_view symbol, double wire_share, const NetworkLevel& level, std::size_t index,
                       Trace& trace);

}  // namespace slipstick
