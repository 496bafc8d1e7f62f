// Dispatch of tokens to their experts and combine of the results, by dedicated kernels.
//
// Three kernel families: low latency (DeepEP, decode: one message per expert of each token), normal (DeepEP, prefill
// and training: one copy of a token per rank that needs it, and per node across the network), and domain (TensorRT-LLM:
// all ranks in one scale-up domain).
#pragma once

#include "core/base/architecture.h"
#include "core/base/trace.h"
#include "core/base/units.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"
#include "core/software/expert_exchange.h"
#include "core/workload/layer.h"

namespace slipstick {

struct ExpertExchange {
  ExchangeKernel kernel = ExchangeKernel::kLowLatency;
  bool is_combine = false;
  double tokens = 1;         // per rank
  double top_k = 8;          // routed experts per token
  double experts = 256;      // routed experts, total
  double hidden = 7168;      // elements per token
  double element_bytes = 2;  // 1 + 4/128 for fp8 with scales of 128-element blocks
  double ranks_in_node = 8;  // of the group, per scale-up domain
  double nodes = 1;
  double kernel_units = 24;        // SMs of a normal kernel
  double max_nodes_per_token = 4;  // limit of node-limited routing
  BytesPerSecond link;  // scale-up bandwidth per device, one direction, that the wiring leaves to the exchange
  BytesPerSecond nic;   // NIC bandwidth per device, likewise
  Seconds farther;      // latency of the wires beyond the first, on the longest route
  Architecture architecture;
};

// The model's tokens on the links of a group. The caller sets the kernel, the tokens and the direction.
ExpertExchange ExchangeOf(const Model& model, const Cluster& cluster, const GroupPlacement& group, Trace& trace);
// Ranks, links and NICs of a group, as the wiring leaves them: on a switch the stated bandwidths.
void SetWires(const GroupPlacement& group, const Cluster& cluster, ExpertExchange& exchange, Trace& trace);

struct ExpertExchangeTime {
  Seconds time;
  Bytes bytes;  // that a device sends over the outermost level that the group spans
};
// One dispatch or combine; zero for a single rank.
ExpertExchangeTime TimeOf(const ExpertExchange& exchange, Trace& trace);

}  // namespace slipstick
