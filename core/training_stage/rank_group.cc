// Groups of ranks and their collectives.
#include "core/training_stage/collective_memo.h"
#include "core/training_stage/exchange.h"

namespace slipstick {
namespace {

const GroupPlacement& PlacementOf(const TrainingContext& context, RankGroup group) {
  switch (group) {
    case RankGroup::kTensor:
      return context.tensor;
    case RankGroup::kContext:
      return context.context_group;
    case RankGroup::kData:
      break;
    case RankGroup::kShard:
      return context.shard;
    case RankGroup::kReplica:
      return context.replica;
    case RankGroup::kExperts:
      return context.experts;
    case RankGroup::kExpertData:
      return context.expert_data;
    case RankGroup::kExpertTensor:
      return context.expert_tensor;
  }
  return context.data;
}

}  // namespace

Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, RankGroup group) {
  const GroupPlacement& placement = PlacementOf(context, group);
  const Cluster& network = NetworkFor(context, call);
  if (context.log != nullptr) context.log->Add(NameOf(group), call, placement, network);
  if (placement.Ranks() <= 1 || !(call.bytes > Bytes{})) return {};
  const auto time = [&] { return TimeOf(call, placement, network).time; };
  const bool remembers = call.bytes.node() != nullptr;
  return context.collectives != nullptr && !remembers ? context.collectives->Get(call, placement, time) : time();
}

}  // namespace slipstick
