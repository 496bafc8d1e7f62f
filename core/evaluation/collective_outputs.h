// The collectives of a report: of training and of serving.
#pragma once

#include <tuple>

#include "core/base/output.h"
#include "core/collectives/collective.h"

namespace slipstick {

template <>
struct Outputs<CollectiveUse> {
  static constexpr auto rows = std::tuple{
      Output("group", &CollectiveUse::group, "Group of ranks"),
      Output("pattern", &CollectiveUse::pattern, "Pattern"),
      Output("ranks", &CollectiveUse::ranks, "Ranks"),
      Output("bytes", &CollectiveUse::bytes, "Message size"),
      Output("algorithm", &CollectiveUse::algorithm, "Algorithm"),
      Output("time_s", &CollectiveUse::time, "Time"),
      Output("level", &CollectiveUse::level, "Slowest network level"),
  };
};
template <>
struct Outputs<NetworkLevelTime> {
  static constexpr auto rows = std::tuple{
      Output("level", &NetworkLevelTime::level, "Network level"),
      Output("time_s", &NetworkLevelTime::time, "Communication-bound on a network level"),
  };
};

}  // namespace slipstick
