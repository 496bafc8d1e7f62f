// Protocol constants of communication libraries on a family of links, where a level states none of its own: a file of
// core/presets/fabrics each, read once.
#pragma once

#include <string>

#include "core/base/field.h"
#include "core/hardware/network.h"

namespace slipstick {

// Libraries have two protocols: a short one, whose data carry their own flags, and a long one, which fills the link but
// synchronises at every step. Shares are of the stated bandwidth.
struct FabricConstants {
  std::string id;      // the name that a level gives
  std::string preset;  // the fabric that the other members override
  std::string name;
  bool scales_out = false;          // joins nodes through NICs
  bool peer_access = false;         // made for devices to read each other's memory
  Seconds setup;                    // of any collective
  double short_rate = 1;            // short protocol
  double long_rate = 1;             // long protocol
  double exchange_rate = 1;         // long protocol, all-to-all
  double own_rate = 0;              // a rank's own block, over the bandwidth; 0: hidden
  double copy_rate = 1;             // the same in an all-to-all
  double pair_rate = 1;             // send and receive
  double direct_pair_rate = 1;      // the same over a link without a switch
  double reduction_rate = 1;        // in-network reduction over 8 ranks
  double beyond_pair = 1;           // share of the bandwidth that is left where more than two ranks share root ports
  double outer_rate = 1;            // of a NIC that scales out
  double outer_short_rate = 1;      // the same, short protocol
  double outer_pair_rate = 1;       // the same, send and receive, at most
  double long_step = 1;             // a step of the long protocol over one of the short
  Seconds long_setup;               // that the long protocol adds
  double exchange_short_rate = 1;   // short protocol, all-to-all: many small flagged stores
  double exchange_peer = 0;         // steps for each peer
  Seconds exchange_long_setup;      // that the long protocol adds there
  double outer_reduction_gain = 1;  // of switches that reduce between nodes
  double tree_share = 1;            // of what rings reach between nodes, when trees follow in-network reduction
  Count reduction_from = 2;         // ranks: below, the library takes rings
  double reduction_fall = 0;        // of the rate of in-network reduction, each time the ranks double beyond 8
  Seconds reduction_setup;          // up to 8 ranks
  Seconds reduction_setup_rank;     // each further rank
  // Inside a training step: a message to the next rank of a pipeline or a ring, and tokens to their experts by an all-to-all.
  double hop_rate = 1, outer_hop_rate = 1;
  Seconds hop_latency, outer_hop_latency;
  double routed_rate = 1, outer_routed_rate = 1;
  Seconds routed_setup;
};
template <>
struct Schema<FabricConstants> {
  static constexpr std::string_view preset_kind = "fabric";
  static const Fields fields;
};

}  // namespace slipstick
