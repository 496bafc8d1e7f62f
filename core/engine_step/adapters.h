// Low-rank adapters, one per request (multi-LoRA): their memory and the time of their products.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Weights of all adapters in device memory, on the most loaded device.
Bytes AdapterWeights(const Deployment& deployment, Trace& trace);
// The adapters of a step of `rows` tokens beside the products of one layer's attention or dense MLP. Recorded as
// adapter_time.
KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, Trace& trace);

}  // namespace slipstick
