// Time of one matrix product of a served layer.
#pragma once

#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"
#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

// `rows` tokens on one rank, in the served formats.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows);

// Sets the constants of the engine's own kernels for weights narrower than the activations: matrix-vector kernels
// (`is_vector`), or tiles.
void SetStored(const Deployment& deployment, bool is_vector, GemmKernelParameters& parameters);

// A GEMM of a layer as serving reports it.
struct ServedProduct {
  std::string_view name;              // of the operator
  std::string_view title, note = "";  // of the figure of its time
};
const ServedProduct& ServedAs(ProductId id);

// Weights of all low-rank adapters in device memory (multi-LoRA, one per request), on the most loaded device.
Bytes AdapterWeights(const Deployment& deployment);
// Adapter products of a step of `rows` tokens, beside the products of one layer's attention or dense MLP.
KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows);

}  // namespace slipstick
