// FLOPs of a step, counted as in publications.
#pragma once

#include "core/software/framework.h"
#include "core/training_stage/recompute_choice.h"
#include "core/workload/model.h"

namespace slipstick {

struct StepFlops {
  // Three times the forward pass, with full-square attention (Korthikanti et al. 2022); two passes for frozen weights,
  // which need no weight gradient.
  Flops model;
  Flops model_causal;  // attention cut by the causal mask: half of the square
  Flops hardware;      // with recomputation; selective counts the attention core twice, as printed in that paper
};
// FLOPs of one update of all matrices in the layers by Muon: five Newton-Schulz iterations per matrix (Jordan et al.,
// Muon: An optimizer for hidden layers in neural networks, 2024).
Flops NewtonSchulzFlops(const Model& model);

// Parameters of the low-rank adapters in all layers.
Ratio AdapterParameters(const Model& model, const Framework& framework);

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute);

}  // namespace slipstick
