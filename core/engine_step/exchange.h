// Communication between the devices of a replica, inside a layer and between pipeline stages.
#pragma once

#include <string_view>
#include <vector>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"

namespace slipstick {

struct ExchangeCost {
  KernelTime kernel;
  bool launched_apart = false;  // a separately launched kernel of a communication library
};

// All-reduce of `bytes` per tensor-parallel rank. `waits_for_host`: kernels are launched one by one.
ExchangeCost AllReduce(const Deployment& deployment, Bytes bytes, bool waits_for_host);

struct ExpertTraffic {
  KernelTime kernel;          // dispatch and combine
  Seconds dispatch, combine;  // parts of the kernel's time
  Ratio held_tokens = 1;      // per device, before dispatch and after combine
};
// Tokens of all attention groups in a pass with `rows` tokens of each group that has any. In decode all have some.
Ratio AllTokens(const Deployment& deployment, Ratio rows, Phase phase);
// All-gather and reduce-scatter: every device gets the tokens of all attention groups. `rows`: tokens of one group.
ExpertTraffic GatherTokens(const Deployment& deployment, Ratio rows, Phase phase);
// Tokens go only to the devices of their experts: by the engine's kernels, otherwise by a library's all-to-all.
ExpertTraffic SendTokens(const Deployment& deployment, Ratio rows, Phase phase);
// Imbalance of the routed tokens over the devices: tokens on the busiest device over the mean.
Ratio ImbalanceOf(const Deployment& deployment);
// Fraction of the SMs occupied by the exchange kernels.
Ratio UnitsTaken(const Deployment& deployment, Phase phase);

// Context parallelism in decode: sends the queries of `rows` tokens to the ranks that share their contexts, and partial
// results back.
KernelTime ContextExchange(const Deployment& deployment, Ratio rows);
// Time of a message over all wires of its route: launch, transfer and the latency of the wires after the first.
Seconds TimeOfSend(std::string_view title, Bytes bytes, const Route& route, const Deployment& deployment,
                   std::string_view note);
// Sends the activations of `rows` tokens to the next pipeline stage.
KernelTime StageSend(const Deployment& deployment, Ratio rows);

// Prefill context parallelism: the ranks that split a prompt exchange its keys and values. Time per layer added to
// `own_attention`, a rank's attention of its own queries, which hides the transfers of a ring.
KernelTime PromptExchangeTime(const Deployment& deployment, const PrefillPass& pass, Seconds own_attention);

// Splits `network`, the communication-bound time of a pass, over the levels in proportion to its operators' times.
std::vector<NetworkLevelTime> NetworkTimeByLevel(const Deployment& deployment, const OperatorBreakdown& operators,
                                                 Seconds network);

// Bandwidth of large copies between a device and its host over a link of bandwidth `host_link`.
BytesPerSecond RateOfCopies(BytesPerSecond host_link, const EngineCommunication& engine);

}  // namespace slipstick
