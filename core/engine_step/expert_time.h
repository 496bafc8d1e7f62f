// Routed experts of a layer and the exchange of their tokens.
#pragma once

#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

// A layer's routed experts and the exchange of their tokens: by the engine's kernels, otherwise by the library
// collectives that are faster together with the experts' work.
struct RoutedExperts {
  KernelTime experts;
  ExpertTraffic traffic;
};
// Four-bit weights with narrow activations run on four-bit units, if the device has them.
bool HasFourBitExperts(const Deployment& deployment);
RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase);

// Number of layers whose experts stay in host memory (llama.cpp: --n-cpu-moe).
Ratio HostLayers(const Deployment& deployment);

// Weights of the routed experts that are in host memory.
Bytes HostWeights(const Deployment& deployment);

// Time of the routed experts of a layer in a pass of `rows` tokens, mean over layers with experts on the device and in
// host memory. `on_device`: time of one layer's experts on the device, the operator `name`.
Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view name,
                        OperatorBreakdown& operators);

}  // namespace slipstick
