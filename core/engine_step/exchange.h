// Communication between the devices of a replica, inside a layer and between pipeline stages.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

struct ExchangeCost {
  KernelTime kernel;
  bool launched_apart = false;  // a kernel of a communication library, launched by itself
};

// All-reduce of `bytes` per tensor-parallel rank. `waits_for_host`: kernels are launched one by one.
ExchangeCost AllReduce(const Deployment& deployment, Bytes bytes, bool waits_for_host, Trace& trace);

struct ExpertTraffic {
  KernelTime kernel;          // dispatch and combine
  Seconds dispatch, combine;  // parts of the kernel's time
  double held_tokens = 1;     // per device, before dispatch and after combine
};
// All-gather and reduce-scatter: every device gets the tokens of all attention groups. `tokens`: of one group.
ExpertTraffic GatherTokens(const Deployment& deployment, double tokens, Trace& trace);
// Tokens go only to the devices of their experts: by the engine's kernels, else by a library's all-to-all.
ExpertTraffic SendTokens(const Deployment& deployment, double tokens, Phase phase, Trace& trace);
// Fraction of the SMs occupied by the exchange kernels.
double UnitsTaken(const Deployment& deployment, Phase phase, Trace& trace);

// Context parallelism in decode: queries of `rows` tokens to the ranks that share their contexts, and partial results
// back.
KernelTime ContextExchange(const Deployment& deployment, double rows, Trace& trace);
// All-gather of `bytes`, the figure bytes, over the tensor groups that split a prompt.
Seconds GatherPrompts(const Deployment& deployment, Bytes bytes, Trace& trace);
// Binds stage_link, a device's bandwidth on a way to another stage or pool.
void BindRoute(const Route& route, const Deployment& deployment, Trace& trace);
// `time`, the figure `symbol`, and the latency of the wires beyond the first.
Seconds OverFurtherWires(Seconds time, std::string_view symbol, const Route& route, const Deployment& deployment,
                         Trace& trace);
// Binds a symbol to its input: the bandwidth of the innermost level that joins as many devices.
void BindLevelLink(std::string_view symbol, BytesPerSecond link, double devices, const Deployment& deployment,
                   Trace& trace);
// Activations of `rows` tokens to the next pipeline stage.
KernelTime StageSend(const Deployment& deployment, double rows, Trace& trace);

}  // namespace slipstick
