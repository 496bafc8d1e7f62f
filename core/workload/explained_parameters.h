// Where the parameter counts of a model come from.
#pragma once

#include "core/base/trace.h"
#include "core/workload/layer.h"

namespace slipstick {

// Records layers by kind, active_matrices and total_parameters, with those of the MTP modules, in a scope "parameters".
void ExplainParameters(const Model& model, const ParameterCount& count, Trace& trace);

}  // namespace slipstick
