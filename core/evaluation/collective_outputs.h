// The collectives of a report: of training and of serving.
#pragma once

#include <tuple>

#include "core/base/output.h"
#include "core/collectives/collective.h"

namespace slipstick {

template <>
struct Outputs<CollectiveUse> {
  static constexpr auto rows = std::tuple{Output("group", &CollectiveUse::group, "Group of ranks"),
                                          Output(
                                              "pattern", [](const CollectiveUse& use) { return NameOf(use.pattern); }, "Pattern"),
                                          Output("ranks", &CollectiveUse::ranks, "Ranks"),
                                          Output("bytes", &CollectiveUse::bytes, "Message size"),
                                          Output("algorithm", &CollectiveUse::algorithm, "Algorithm"),
                                          Output("time_s", &CollectiveUse::time, "Time")};
};

}  // namespace slipstick
