// Times of a layer's GEMMs in a training step: forward, input gradient, weight gradient.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/operators/kernel.h"
#include "core/operators/time_by_bound.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

// An operator of a layer, with its time and traffic.
struct TimedOperator {
  std::string name;
  Flops flops;
  Bytes bytes;                      // to and from memory
  std::vector<Bytes> level_bytes;   // caches from the innermost, then memory
  std::vector<Seconds> level_time;  // time for those bytes at the stated bandwidths; 0: not stated
  Seconds time;
  Bound bound = Bound::kCompute;
};
// Operators of a kind of layer: their time by bound and, if requested, a list of them.
struct LayerOperators {
  bool is_listed = true;
  std::vector<TimedOperator> list;
  TimeByBound by_bound;
};

// Sums over the GEMMs of a layer.
struct Sums {
  Seconds forward, input_gradient, weight_gradient;
  Seconds latents;  // forward time of the up-projections from MLA's latents
  Seconds routed;   // forward time of the routed experts
  Seconds last;     // forward time of the dense MLP's second GEMM, whose output only the next layer needs
  Flops forward_flops, latent_flops, routed_flops, last_flops;
};

// Adds an operator, if the report lists operators.
void RecordOperator(LayerOperators* operators, const TrainingContext& context, std::string_view name,
                    std::string_view suffix, const KernelTime& kernel, Seconds time);

// Adds a GEMM: forward, input gradient, weight gradient.
void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, LayerOperators* operators);

}  // namespace slipstick
