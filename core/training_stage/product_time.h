// Times of a layer's GEMMs in a training step: forward, input gradient, weight gradient.
#pragma once

#include <string_view>

#include "core/operators/kernel.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/timed_operator.h"

namespace slipstick {

// Sums over the GEMMs of a layer.
struct Sums {
  Seconds forward, input_gradient, weight_gradient;
  Seconds latents;  // forward, of the projections up from MLA's latents
  Flops forward_flops, latent_flops;
};

// Adds an operator, where the report lists them.
void RecordOperator(LayerOperators* operators, const TrainingContext& context, std::string_view name,
                    std::string_view suffix, const KernelTime& kernel, Seconds time);

// Adds a GEMM: forward, input gradient, weight gradient.
void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, LayerOperators* operators);

}  // namespace slipstick
