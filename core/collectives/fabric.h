// Protocol constants of communication libraries on a family of links, used if a level states none of its own. Each
// family is one file of core/presets/fabrics, read once.
#pragma once

#include <string>
#include <string_view>

#include "core/base/field.h"
#include "core/hardware/network.h"

namespace slipstick {

// Libraries have two protocols: LL, whose data carry their own flags, and Simple, which fills the link but synchronizes
// at every step. Efficiencies are fractions of the stated bandwidth.

// Rings inside a scale-up domain (NVLink, PCIe).
struct RingConstants {
  Ratio ll_efficiency = 1;
  Ratio simple_efficiency = 1;
  Ratio simple_step = 1;      // duration of a Simple step relative to an LL step
  Seconds simple_setup;       // added by Simple, also in an all-to-all
  Ratio local_copy_rate = 0;  // rate at which a rank copies its own block, relative to the bandwidth; 0: hidden
  Ratio shared_root_port_fraction = 1;  // fraction of the bandwidth left if more than two ranks share root ports
  bool by_sides = false;                // rings run along one side of a grid after the other, not through all ranks
};

// All-to-all inside a scale-up domain.
struct AllToAllConstants {
  Ratio ll_efficiency = 1;  // LL sends many small stores with flags
  Ratio simple_efficiency = 1;
  Ratio local_copy_rate = 1;  // rate at which a rank copies its own block, relative to the bandwidth
  Ratio steps_per_peer = 0;
};

// Send and receive.
struct SendConstants {
  Ratio switch_efficiency = 1;
  Ratio direct_efficiency = 1;  // over a link without a switch
};

// Collectives over NICs.
struct ScaleOutConstants {
  Ratio nic_efficiency = 1;  // efficiency of Simple
  Ratio ll_efficiency = 1;
  Ratio tree_fraction = 1;  // rate of trees that follow in-network reduction, relative to rings
};

// In-network reduction by the switches of a scale-up domain (NVLS).
struct InNetworkConstants {
  Ratio efficiency = 1;         // with 8 ranks
  Count min_ranks = 2;          // with fewer, the library uses rings
  Ratio loss_per_doubling = 0;  // efficiency lost per doubling of the ranks beyond 8
  Seconds setup;                // with up to 8 ranks
  Seconds setup_per_rank;       // added by each rank beyond 8
};

inline constexpr std::string_view kInStepSource = "NCCL's send and receive, and its all-to-all, inside a training step";
// Transfers inside a training step: a hop to the next rank of a pipeline or ring, and an all-to-all of tokens to their
// experts (routed).
struct InStepConstants {
  Ratio hop_efficiency = 1;
  Seconds hop_latency;
  Ratio routed_efficiency = 1, nic_routed_efficiency = 1;
  Seconds routed_setup;
  Ratio pod_jitter = 0;  // relative slowdown of a step per doubling of the pods or nodes that the level joins
};

struct FabricConstants {
  std::string id;      // the name by which a level refers to it
  std::string preset;  // the fabric that the fields below override
  std::string name;
  bool scales_out = false;   // joins nodes through NICs
  bool peer_access = false;  // devices can read each other's memory
  Seconds setup;             // fixed latency of any collective
  RingConstants ring;
  AllToAllConstants all_to_all;
  SendConstants send;
  ScaleOutConstants scale_out;
  InNetworkConstants in_network;
  InStepConstants in_step;
};
template <>
struct Schema<FabricConstants> {
  static constexpr std::string_view preset_kind = "fabric";
  static const Fields fields;
};

}  // namespace slipstick
