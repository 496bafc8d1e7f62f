// The end of a step: gradients are reduced over the data-parallel ranks, weights are updated and gathered.
#pragma once

#include <vector>

#include "core/base/quantity.h"
#include "core/training_stage/context.h"
#include "core/training_stage/stage.h"
#include "core/training_stage/stage_time.h"

namespace slipstick {

struct GradientExchange {
  Seconds link, exposed;
  Seconds accumulation;             // adding 16-bit gradients into their fp32 copy, all micro-batches
  Seconds host_link, host_exposed;  // offloaded optimizer state, both directions at once
  Seconds optimizer;                // update of the rank's shard, gradient norm, zeroing of gradients
};
// For the device whose exchange takes longest. `stages`: the stages whose passes may hide the reduction.
GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan,
                                   const std::vector<StageTime>& stages);

}  // namespace slipstick
