// Dispatch of tokens to their experts and combine of the results, by dedicated kernels.
//
// Three kernel families: low latency (DeepEP, decode: one message per expert of each token), normal (DeepEP, prefill and training: one
// copy of a token per rank that needs it, and per node across the network), and domain (TensorRT-LLM: all ranks in one scale-up domain).
#pragma once

#include "core/base/architecture.h"
#include "core/base/trace.h"
#include "core/base/units.h"
#include "core/software/expert_exchange.h"

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
  BytesPerSecond link;             // scale-up bandwidth per device, one direction
  BytesPerSecond nic;              // NIC bandwidth per device
  Architecture architecture;
};

// Time of one dispatch or combine; zero for a single rank.
Seconds TimeOf(const ExpertExchange& exchange, Trace& trace);

// Expected number of owners (ranks or nodes) that hold at least one of a token's top_k experts, with experts spread evenly.
double OwnersReached(double owners, double top_k);

}  // namespace slipstick
