// Arithmetic of a step: what the model needs, and what the hardware runs with recomputation.
#pragma once

#include "core/base/trace.h"
#include "core/training/context.h"
#include "core/training/memory.h"

namespace slipstick {

struct StepFlops {
  Flops model;  // three times the forward products, attention uncut by the mask (Korthikanti et al. 2022); frozen weights need no gradient
  Flops model_causal;  // the same with half of the attention to all tokens before, which is what a causal mask leaves
  Flops hardware;      // with what is computed again; selective counts the attention core twice over, as that paper prints it
};
// Low-rank adapters on every product of attention.
double AdapterParameters(const Model& model, double rank);

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute, Trace& trace);

}  // namespace slipstick
