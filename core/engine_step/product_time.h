// Time of one matrix product of a served layer.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Of `rows` tokens on one rank, in the formats that are served; its time is recorded as a figure of the current scope.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace);

}  // namespace slipstick
