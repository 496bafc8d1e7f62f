// Communication inside a layer: tensor-, context- and expert-parallel groups.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

struct Exchange {
  Seconds link;     // time on the links, exposed or hidden
  Seconds exposed;  // at most link
  // The parts of these that selective recomputation repeats.
  Seconds repeated_link{}, repeated{};
};

// Groups of ranks for collectives: one degree of parallelism, or two nested ones.
enum class RankGroup {
  kTensor,
  kContext,
  kData,
  kShard,
  kReplica,
  kExperts,
  kExpertData,
  kExpertShard,
  kExpertReplica,
  kExpertTensor
};
ENUM_NAMES(RankGroup, {kTensor, "tp"}, {kContext, "cp"}, {kData, "dp"}, {kShard, "shard"}, {kReplica, "replica"},
           {kExperts, "ep"}, {kExpertData, "expert_dp"}, {kExpertShard, "expert_shard"},
           {kExpertReplica, "expert_replica"}, {kExpertTensor, "expert_tp"});

// Time of a collective; 0 for a group of one or an empty message.
Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, RankGroup group);
inline Seconds TimeCollective(const TrainingContext& context, CollectiveType type, Bytes bytes, RankGroup group) {
  return TimeCollective(context, {.type = type, .bytes = bytes}, group);
}

// All-reduce of the rank's shard of the gradients of these weights, among the ranks that hold the same shard.
Seconds ReduceOverReplicas(const TrainingContext& context, const HeldWeights& weights);

// Whether overlap in chunks reaches all ranks of a TP group.
bool ReachesTensorOverlap(const TrainingContext& context);

// TP communication of one layer in one direction: `pairs` pairs of an all-gather and a reduce-scatter of the residual
// stream, or as many all-reduces without sequence parallelism. The backward pass needs the same.
Exchange TensorExchange(const TrainingContext& context, Ratio pairs);

// CP communication of one layer. A ring is hidden behind the blocks of attention that it feeds.
struct ContextExchange {
  Exchange forward, backward;
};
// Whether every rank gathers the keys and values of all: always with latent attention, whose ranks exchange them so.
bool GathersContext(const TrainingContext& context);
// Keys and values of all ranks, of one layer.
Bytes AllKeysAndValues(const TrainingContext& context, const AttentionWork& work);
ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward,
                                Seconds core_backward);

// EP communication of one layer in one direction: dispatch and combine, and the gathers of expert tensor parallelism.
Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work);

}  // namespace slipstick
