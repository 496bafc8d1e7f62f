// The network as a communication library uses it: the scale-up domain and the scale-out network of a group, with their
// constants.
#pragma once

#include <string>
#include <string_view>

#include "core/collectives/algorithm.h"

namespace slipstick {

inline constexpr std::string_view kLibrarySource =
    "form and constants fitted to NCCL tables of ai-dynamo/aiconfigurator at 095f58a, 1,008 cells of A100, H100, H200, "
    "B200, GB200";

// The scale-up domain of a group, and the scale-out network beyond it.
struct ScaleUp {
  double ranks = 1;
  BytesPerSecond bandwidth;  // usable by the library
  BytesPerSecond stated;     // of the level
  Seconds setup, step;
  double simple_efficiency = 1, exchange_efficiency = 1;
  double steps = 0;   // of an all-gather
  WireLoad exchange;  // of an all-to-all
  const FabricConstants* fabric = nullptr;
};
struct ScaleOut {
  double nodes = 1;
  BytesPerSecond bandwidth;  // per device, of the slowest level
  Seconds setup, hop;
  double nic_efficiency = 1;
  WireLoad exchange;                        // of an all-to-all, on the level where it is heaviest
  const FabricConstants* fabric = nullptr;  // of that level
  bool has_nics = true;                     // every rank has a NIC of its own, which rings use in parallel
};

ScaleUp ScaleUpOf(const CollectiveInstance& instance);
ScaleOut ScaleOutOf(const CollectiveInstance& instance);
// Whether the group is inside one scale-up domain.
inline bool IsInNode(const CollectiveInstance& instance) {
  return instance.view.has_scale_up && instance.view.count == 1;
}

// Binds the symbols of both to their inputs and to the constants of their fabrics.
void BindInputs(const CollectiveInstance& instance, Trace& trace);
// Binds detour and hops, the WireLoad of a level, or that of the scale-out network, to the wiring.
void BindWireLoad(const LevelView& view, double devices, Trace& trace);
void BindOuterWireLoad(const CollectiveInstance& instance, Trace& trace);
// Binds the usable bandwidth of a rank: the level's; on a grid that of its links to the group; less where root ports
// are shared.
void BindBandwidth(std::string_view symbol, const LevelView& view, BytesPerSecond usable, double devices, Trace& trace);

// Binds the share of a device's bandwidth on the wire to the next rank (NeighborOf).
void BindNeighborShare(std::string_view symbol, double wire_share, const NetworkLevel& level, std::size_t index,
                       Trace& trace);

// Name of a fabric's table of constants: "fabrics.nvlink".
std::string TableOf(const FabricConstants& fabric);
// A constant that a level states, else its fabric's.
template <class T>
void BindStated(std::string_view symbol, T value, bool is_stated, const LevelView& view, std::string_view field,
                Trace& trace) {
  if (!trace.on()) return;
  if (!is_stated) return trace.Constants(TableOf(*view.level->fabric), kLibrarySource, symbol, value);
  trace.Input(symbol, value, "cluster.networks." + std::to_string(view.index) + "." + std::string(field));
}

}  // namespace slipstick
