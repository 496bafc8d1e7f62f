// Protocol constants of communication libraries on a family of links, where a level states none of its own.
#pragma once

#include "core/base/units.h"
#include "core/hardware/network.h"

namespace slipstick {

// Libraries have two protocols: a short one, whose data carry their own flags, and a long one, which fills the link but
// synchronises at every step. Shares are of the stated bandwidth.
struct FabricConstants {
  Fabric fabric;
  bool scales_out;        // joins nodes through NICs
  Seconds setup;          // of any collective
  double short_rate;      // short protocol
  double long_rate;       // long protocol
  double exchange_rate;   // long protocol, all-to-all
  double own_rate;        // a rank's own block, over the bandwidth; 0: hidden
  double copy_rate;       // the same in an all-to-all
  double pair_rate;       // send and receive
  double reduction_rate;  // in-network reduction over 8 ranks
  double beyond_pair;     // share of the bandwidth that is left where more than two ranks share root ports
  double outer_rate;      // of a NIC that scales out
};
const FabricConstants& ConstantsOf(Fabric fabric);

// The same for every fabric: ai-dynamo/aiconfigurator NCCL tables, 1,008 cells of five NVLink systems.
inline constexpr double kLongStep = 3.5;          // a step of the long protocol over one of the short
inline constexpr Seconds kLongSetup = 8.5 * kUs;  // that the long protocol adds
inline constexpr double kOuterShortRate = 0.4;    // short protocol between nodes

}  // namespace slipstick
