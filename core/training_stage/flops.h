// FLOPs of a step as publications count them.
#pragma once

#include "core/software/framework.h"
#include "core/training_stage/recompute_choice.h"
#include "core/workload/model.h"

namespace slipstick {

struct StepFlops {
  // Three times the forward pass, attention over the full square (Korthikanti et al. 2022); frozen weights need no
  // gradient.
  Flops model;
  Flops model_causal;  // attention cut by the causal mask: half of the square
  Flops hardware;      // recomputation included; selective counts the attention core twice, as that paper prints it
};
// Of low-rank adapters in all layers.
Ratio AdapterParameters(const Model& model, const Framework& framework);

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute);

}  // namespace slipstick
