#include "core/engine_step/network_time.h"

namespace slipstick {

std::vector<NetworkLevelTime> NetworkTimeByLevel(const Deployment& deployment, const OperatorBreakdown& operators,
                                                 Seconds network) {
  const Cluster& cluster = deployment.cluster;
  const ServingNetwork& groups = deployment.network;
  const auto level_of = [&](std::string_view name) {
    if (name == kStageSend) return groups.stage.level;
    if (name == kExpertExchange) return SlowestLevel(CollectiveType::kAllToAll, groups.experts_group, cluster);
    const GroupPlacement& context = deployment.mapping.prefill_cp > 1 ? groups.prompt_group : groups.context_group;
    return SlowestLevel(CollectiveType::kAllReduce, name == kContextExchange ? context : groups.tensor_group, cluster);
  };
  Seconds sum;
  for (const OperatorTime& one : operators) {
    if (one.kernel.bound == Bound::kNetwork) sum += one.count * one.kernel.time;
  }
  NetworkLevelTimes levels(cluster);
  Seconds to_host;
  for (const OperatorTime& one : operators) {
    if (one.kernel.bound != Bound::kNetwork) continue;
    const Seconds part = network * (one.count * one.kernel.time / sum);
    if (WaitsForHost(one.name)) {
      to_host += part;
    } else {
      levels.Add(level_of(one.name), part);
    }
  }
  return levels.List(to_host);
}

}  // namespace slipstick
