// What the devices of a replica send each other inside a layer and between stages.
#pragma once

#include "core/base/trace.h"
#include "core/operators/kernel.h"
#include "core/serving/deployment.h"

namespace slipstick {

struct ExchangeCost {
  KernelTime kernel;
  bool launched_apart = false;  // a kernel of a communication library, with launches of its own
};

// Sum over the tensor parallel ranks of `bytes` that each holds. `waits_for_host`: kernels are launched one by one.
ExchangeCost AllReduce(const Deployment& d, Bytes bytes, bool waits_for_host, Trace& trace);

struct ExpertTraffic {
  KernelTime kernel;  // dispatch and combine
  Seconds dispatch;   // of it
  double held = 1;    // tokens that lie on a device before dispatch and after combine
};
// The tokens of all attention groups to all devices, and the experts' answers back: `tokens` of one group.
ExpertTraffic GatherTokens(const Deployment& d, double tokens, Trace& trace);
// The same tokens to the devices of their experts only: by the engine's own kernels, else by a library's all-to-all.
ExpertTraffic SendTokens(const Deployment& d, double tokens, Phase phase, Trace& trace);
// Load of the busiest device over the mean, of the experts' tokens.
double ImbalanceOf(const Deployment& d, Trace& trace);
// Share of a device's units that the exchange takes from other kernels while it runs.
double UnitsTaken(const Deployment& d, Phase phase);

// Queries of `rows` tokens to the ranks that share their contexts, and the parts of the answers back.
KernelTime ContextExchange(const Deployment& d, double rows, Trace& trace);
// `rows` of activations to the next pipeline stage.
KernelTime StageHop(const Deployment& d, double rows, Trace& trace);

}  // namespace slipstick
