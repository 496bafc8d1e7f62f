// Once a step: gradients reduced over the data-parallel ranks, weights updated and gathered again.
#pragma once

#include <vector>

#include "core/training/context.h"
#include "core/training/stage.h"
#include "core/training/stage_time.h"

namespace slipstick {

struct GradientExchange {
  Seconds link, exposed;
  Seconds accumulation;             // passes that add gradients into their fp32 copy, all micro-batches
  Seconds host_link, host_exposed;  // offloaded optimizer state, in and out at once
  Seconds optimizer;                // update of the rank's share, norm and clearing of its gradients
};
// Of the stage with the most parameters; `stages` are the passes that may hide the reduction.
GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan, const std::vector<StageTime>& stages,
                                   Trace& trace);

}  // namespace slipstick
