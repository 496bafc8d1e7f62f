// Work of a training layer besides its GEMMs and attention: elementwise passes and low-rank adapters.
#pragma once

#include <string_view>

#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

inline constexpr std::string_view kElementwiseSource =
    "operands counted once per pass; the share of the bandwidth is fitted per framework to published step times";

struct Elementwise {
  Seconds forward, backward;
  Seconds norms;   // the part of forward spent in norms and activation functions
  Seconds routed;  // the part of forward spent on routed rows
};

// Norms, residuals, rotary embedding, activation functions, routing: every operand once, at the framework's elementwise
// rate.
Elementwise TimeElementwise(const TrainingContext& context, const LayerWork& work);

// Low-rank adapters beside the frozen GEMMs: two thin GEMMs each, and their gradients; memory-bandwidth-bound up to a
// rank of about 200.
struct Adapters {
  Seconds forward, backward;
};
Adapters TimeAdapters(const TrainingContext& context, const LayerWork& work);

}  // namespace slipstick
