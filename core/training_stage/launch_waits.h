// Wait of a layer's passes for the host, which launches their kernels.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/layer_pass.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

// Sets the host waits of `time`, and its pass of weight gradients where the schedule has one; its other parts are
// complete. `weight_gradients`: the part of the backward pass that a schedule may postpone. `backward_launches`:
// launches of the backward pass over those of one that repeats nothing.
void AddHostWaits(const TrainingContext& context, const LayerWork& work, Seconds weight_gradients,
                  Ratio backward_launches, LayerTime& time);

}  // namespace slipstick
