// Dispatch of tokens to their experts and the combine that brings the results back, as dedicated kernels run them.
//
// Three families of kernels: low latency (DeepEP: a message for each expert of each token, for decoding), normal (DeepEP: a
// token goes once to each rank that needs it, and once to each node across the network, for prefill and training), and
// domain (TensorRT-LLM: all ranks in one scale-up domain).
#pragma once

#include "core/base/architecture.h"
#include "core/base/trace.h"
#include "core/base/units.h"
#include "core/software/expert_exchange.h"

namespace slipstick {

struct ExpertExchange {
  ExchangeKernel kernel = ExchangeKernel::kLowLatency;
  bool is_combine = false;
  double tokens = 1;         // of a rank
  double top_k = 8;          // routed experts a token
  double experts = 256;      // routed experts in all
  double hidden = 7168;      // elements a token
  double element_bytes = 2;  // 1 + 4/128 for fp8 with scales of 128-element blocks
  double ranks_in_node = 8;  // of the group, in one scale-up domain
  double nodes = 1;
  double kernel_units = 24;  // SMs given to a normal kernel
  double most_nodes = 4;     // that routing lets a token reach
  BytesPerSecond link;       // scale-up bandwidth of a device, one direction
  BytesPerSecond nic;        // of a device, between nodes
  Architecture architecture;
};

// Wall time of one dispatch or combine; 0 for a single rank.
Seconds TimeOf(const ExpertExchange& exchange, Trace& trace);

// Places (ranks, nodes) that hold at least one of a token's top_k experts, experts spread evenly: expected number.
double PlacesReached(double places, double top_k);

}  // namespace slipstick
