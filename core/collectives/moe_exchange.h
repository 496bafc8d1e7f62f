// Dispatch of tokens to their experts and combine of the results, by dedicated kernels.
//
// Three kernel families: low latency (DeepEP, decode: one message per expert of each token), normal (DeepEP, prefill
// and training: one copy of a token per rank that needs it, and per node across the network), and domain (TensorRT-LLM:
// all ranks in one scale-up domain).
#pragma once

#include "core/base/architecture.h"
#include "core/base/units.h"
#include "core/hardware/cluster.h"
#include "core/operators/kernel_family.h"
#include "core/software/expert_exchange.h"

namespace slipstick {

struct GroupView;  // group_view.h

struct ExpertExchange {
  ExchangeKernel kernel = ExchangeKernel::kLowLatency;
  bool is_combine = false;
  Ratio tokens = 1;         // per rank
  Ratio top_k = 8;          // routed experts per token
  Ratio experts = 256;      // routed experts, total
  Ratio hidden = 7168;      // elements per token
  Ratio element_bytes = 2;  // 1 + 4/128 for fp8 with scales of 128-element blocks
  Ratio ranks_in_node = 8;  // of the group, per scale-up domain
  Ratio nodes = 1;
  Ratio kernel_units = 24;        // SMs of a normal kernel
  Ratio max_nodes_per_token = 4;  // limit of node-limited routing
  BytesPerSecond link;  // scale-up bandwidth per device, one direction, that the wiring leaves for the exchange
  BytesPerSecond nic;   // NIC bandwidth per device, likewise
  Seconds farther;      // latency of the wires after the first, on the longest route
  Architecture architecture;
};

// Sets ranks, links and NICs from a group's wiring; on a switch, links and NICs have the stated bandwidths.
void SetWires(const GroupView& group, const Cluster& cluster, ExpertExchange& exchange);

struct ExpertExchangeTime {
  Seconds time;
  Bytes bytes;  // sent per device over the outermost level that the group spans
};
// Time of one dispatch or combine, by the constants of the architecture's kernels; zero for a single rank.
ExpertExchangeTime TimeOf(const ExpertExchange& exchange);
ExpertExchangeTime TimeOf(const ExpertExchange& exchange, const ExpertExchangeTable& table);

}  // namespace slipstick
