// Time of one matrix product of a served layer.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Of `rows` tokens on one rank, in the formats that are served; its time is recorded as a figure of the current scope.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace);

// Where the engine has kernels of its own for weights narrower than the activations: of whole tiles of rows, or row by
// row.
void SetStored(const Deployment& deployment, bool is_vector, double tile_rows, GemmKernelParameters& parameters,
               Trace& trace);

}  // namespace slipstick
