// The network as a communication library uses it: the scale-up domain and the scale-out network of a group, with their
// constants.
#pragma once

#include <string_view>

#include "core/collectives/algorithm.h"

namespace slipstick {

inline constexpr std::string_view kLibrarySource =
    "form and constants fitted to NCCL tables of ai-dynamo/aiconfigurator at 095f58a, 1,008 cells of A100, H100, H200, "
    "B200, GB200";

// The scale-up domain of a group, and the scale-out network beyond it. `setup` includes the launch by the host if the
// call waits for it.
struct ScaleUp {
  Ratio ranks = 1;
  BytesPerSecond bandwidth;  // usable by the library
  BytesPerSecond in_rings;   // and by its rings, whose ranks share the links out of a fat tree's leaves
  Seconds setup, step;
  Ratio simple_efficiency = 1, exchange_efficiency = 1;
  Ratio steps = 0;    // of an all-gather
  WireLoad exchange;  // of an all-to-all
  const FabricConstants* fabric = nullptr;
};
struct ScaleOut {
  Ratio nodes = 1;
  BytesPerSecond bandwidth;  // per device, of the level that slows rings and trees most
  BytesPerSecond link;       // to the next rank, of the slowest level
  BytesPerSecond exchange;   // rate of an all-to-all per device, on the level that slows it most
  Seconds setup, hop;
  Ratio nic_efficiency = 1;
  Ratio exchange_hops = 1;                  // wires on the longest route of an all-to-all
  const FabricConstants* fabric = nullptr;  // of that level
  bool has_nics = true;                     // every rank has its own NIC; rings use all NICs in parallel
};

ScaleUp ScaleUpOf(const CollectiveInstance& instance);
ScaleOut ScaleOutOf(const CollectiveInstance& instance);
// Whether the group is inside one scale-up domain.
inline bool IsInNode(const CollectiveInstance& instance) {
  return instance.view.has_scale_up && instance.view.count == 1;
}

}  // namespace slipstick
