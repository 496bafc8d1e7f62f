// Time of one matrix product of a served layer.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Of `rows` tokens on one rank, in the formats that are served.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows);

// Where the engine has kernels of its own for weights narrower than the activations: of whole tiles of rows, or row by
// row.
void SetStored(const Deployment& deployment, bool is_vector, Ratio tile_rows, GemmKernelParameters& parameters);

}  // namespace slipstick
