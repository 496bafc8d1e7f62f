// Communication inside a layer: tensor-, context- and expert-parallel groups.
#pragma once

#include <initializer_list>
#include <string_view>

#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

struct Exchange {
  Seconds link;     // time on the links, exposed or hidden
  Seconds exposed;  // at most link
  // Of them, what selective recomputation repeats.
  Seconds repeated_link{}, repeated{};
};

// The groups of ranks that a collective joins: one degree of parallelism, or two that lie one within the other.
enum class RankGroup { kTensor, kContext, kData, kShard, kReplica, kExperts, kExpertData, kExpertTensor };
ENUM_NAMES(RankGroup, {kTensor, "tp"}, {kContext, "cp"}, {kData, "dp"}, {kShard, "shard"}, {kReplica, "replica"},
           {kExperts, "ep"}, {kExpertData, "expert_dp"}, {kExpertTensor, "expert_tp"});
// Records the ranks of a group, those in a node, and the nodes, under the names that collectives use.
void ExplainGroup(const TrainingContext& context, RankGroup group, Trace& trace);

// Records times that are zero at a degree of parallelism. `vanishing`: a factor that is zero there, "(tp - 1)", so that
// the zero leads back to the degree.
void RecordNone(std::initializer_list<std::string_view> symbols, std::string_view vanishing, const Note& note,
                std::string_view degree_is, double degree, Trace& trace);

// Time of a collective, whose figures are in a scope `name`. `bytes_are`: the figure of its message; its time is bound
// to `symbol`.
Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, std::string_view bytes_are,
                       RankGroup group, std::string_view name, std::string_view symbol, Trace& trace);
inline Seconds TimeCollective(const TrainingContext& context, CollectiveType type, Bytes bytes,
                              std::string_view bytes_are, RankGroup group, std::string_view name,
                              std::string_view symbol, Trace& trace) {
  return TimeCollective(context, {.type = type, .bytes = bytes}, bytes_are, group, name, symbol, trace);
}

// Records rate and latency of a link to the rank `stride` devices further (MakeContext), under the names hop_rate and
// hop_latency.
void ExplainHop(const TrainingContext& context, const Link& link, double stride, double size, Trace& trace);

// Records the bandwidth that collectives reach on each network between nodes (PrepareCluster), bound to the input's
// path.
void ExplainNetworks(const TrainingContext& context, Trace& trace);

// Records ContentionBeside as the figure contention. `links`: of the transfer, whose sum `link_is` says ("reduce_link +
// gather_link").
void ExplainContention(const TrainingContext& context, Bytes moved, Seconds link, std::string_view link_is,
                       const std::vector<Seconds>& links, double contention, Trace& trace);

// TP communication of one layer in one direction: `pairs` times an all-gather and a reduce-scatter of the residual
// stream, or an all-reduce without sequence parallelism. The backward pass needs the same.
Exchange TensorExchange(const TrainingContext& context, double pairs, Trace& trace);

// CP communication of one layer. A ring is hidden behind the blocks of attention that it feeds.
struct ContextExchange {
  Exchange forward, backward;
};
ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward,
                                Seconds core_backward, Trace& trace);

// EP communication of one layer in one direction: dispatch and combine, and the gathers of expert tensor parallelism.
Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work, Trace& trace);

}  // namespace slipstick
