#include "core/training/network_time.h"

#include <array>

namespace slipstick {

std::vector<NetworkLevelTime> NetworkTimeByLevel(const TrainingContext& context, const StepTime& time) {
  const Cluster& cluster = context.prepared->stated;
  NetworkLevelTimes levels(cluster);
  const auto add = [&](CollectiveType type, const GroupPlacement& group, Seconds exposed) {
    levels.Add(SlowestLevel(type, group, cluster), exposed);
  };
  add(CollectiveType::kAllReduce, context.tensor, time.tp);
  add(CollectiveType::kAllGather, context.context_group, time.cp);
  add(CollectiveType::kAllToAll, context.experts, time.ep);
  add(CollectiveType::kAllReduce, context.data, time.dp);
  const std::array<Span, 1> stages{{{context.strides.pipeline, context.shape.pipeline}}};
  add(CollectiveType::kSendReceive, PlaceSpans(cluster, stages.data(), 1), time.pp);
  return levels.List(time.offload);
}

}  // namespace slipstick
