// The end of a step: gradients reduced over the data-parallel ranks, weights updated and gathered.
#pragma once

#include <vector>

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
// The stage behind whose passes the reduction hides: the first stage, whose backward pass is the last of a step. With
// several chunks or postponed weight gradients further passes follow at the pace of the slowest stage, and waiting for
// it hides communication too.
const StageTime& HidingStage(const TrainingContext& context, const std::vector<StageTime>& stages);

// Of the device that takes longest for it. `stages`: whose passes may hide the reduction.
GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan,
                                   const std::vector<StageTime>& stages);

}  // namespace slipstick
