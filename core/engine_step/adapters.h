// Low-rank adapters, one per request (multi-LoRA): their memory and the time of their products.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Weights of all adapters in device memory, on the most loaded device.
Bytes AdapterWeights(const Deployment& deployment);
// The adapters of a step of `rows` tokens beside the products of one layer's attention or dense MLP.
KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows);

}  // namespace slipstick
