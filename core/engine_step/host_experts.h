// Routed experts whose weights stay in host memory (llama.cpp: --n-cpu-moe).
#pragma once

#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Layers with experts in host memory, of those that have experts.
Ratio HostLayers(const Deployment& deployment);

// Weights of the routed experts that are in host memory.
Bytes HostWeights(const Deployment& deployment);

// Time of the routed experts of a layer, mean over layers with experts on the device and in host memory, in a pass of
// `rows` tokens; `on_device`: a layer's on the device, the operator `name`.
Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view name,
                        OperatorBreakdown& operators);

}  // namespace slipstick
