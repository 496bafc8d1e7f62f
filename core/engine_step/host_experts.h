// Routed experts whose weights stay in host memory (llama.cpp: --n-cpu-moe).
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/layer_parts.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Layers with experts in host memory, of those that have experts: the figure host_layers.
double HostLayers(const Deployment& deployment, Trace& trace);

// Weights of the routed experts that are in host memory.
Bytes HostWeights(const Deployment& deployment, Trace& trace);

// Time of the routed experts of a layer, mean over layers with experts on the device and in host memory, in a pass of
// `rows` tokens; `on_device`: a layer's on the device, the nearest figure `time`. The mean is recorded as mean_experts.
Seconds TimeHostExperts(const Deployment& deployment, double rows, const KernelTime& on_device, std::string_view name,
                        const Adder& add, Trace& trace);

}  // namespace slipstick
