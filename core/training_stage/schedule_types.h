// Shape of a pipeline schedule and times of its passes.
#pragma once

#include "core/base/units.h"
#include "core/mapping/parallelism.h"

namespace slipstick {

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  Count stages = 1, chunks = 1, micro_batches = 1;
};

// Times of one micro-batch on one virtual stage.
struct StagePass {
  Seconds forward, backward;
  Seconds weight_gradient;  // 0 if the schedule leaves it in backward
};

// Whether the schedule runs the weight gradients in a separate pass.
constexpr bool SplitsBackward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::kZbH1 || schedule == PipelineSchedule::kZbV ||
         schedule == PipelineSchedule::kDualPipe;
}

// Whether a forward and a backward pass of different micro-batches run together, each hiding the other's communication.
constexpr bool PairsPasses(PipelineSchedule schedule) { return schedule == PipelineSchedule::kDualPipe; }

// Pipeline stage of a virtual stage: chunks go round the stages; under ZB-V every second chunk runs in reverse order.
constexpr Count StageOf(Count virtual_stage, Count stages, PipelineSchedule schedule) {
  const Count stage = virtual_stage % stages;
  const bool goes_back = schedule == PipelineSchedule::kZbV && (virtual_stage / stages) % 2 == 1;
  return goes_back ? stages - 1 - stage : stage;
}

}  // namespace slipstick
