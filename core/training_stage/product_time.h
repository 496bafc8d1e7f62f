// Times of a layer's GEMMs in a training step: forward, input gradient, weight gradient.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/sum.h"
#include "core/operators/kernel.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/timed_operator.h"

namespace slipstick {

// Sums over the GEMMs of a layer.
struct Sums {
  explicit Sums(Trace& trace)
      : forward(trace),
        input_gradient(trace),
        weight_gradient(trace),
        latents(trace),
        forward_flops(trace),
        latent_flops(trace) {}
  ListedSum<Seconds> forward, input_gradient, weight_gradient;
  ListedSum<Seconds> latents;  // forward, of the projections up from MLA's latents
  ListedSum<Flops> forward_flops, latent_flops;
};

// Adds an operator, where the report lists them.
void RecordOperator(LayerOperators* operators, const TrainingContext& context, std::string_view name,
                    std::string_view suffix, const KernelTime& kernel, Seconds time);

// A GEMM: forward, input gradient, weight gradient. Its shape is bound in a scope of its name (WorkOf).
void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, Trace& trace,
                 LayerOperators* operators);

}  // namespace slipstick
