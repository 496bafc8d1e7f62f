// Pipeline schedules: the order in which a device takes its passes, when each runs, and how long the whole takes.
#pragma once

#include <vector>

#include "core/training/training.h"

namespace slipstick {

// Times of one micro-batch on one virtual stage.
struct StagePass {
  Seconds forward, backward, weight;  // weight: the gradient of the weights, which some schedules postpone; else part of backward
};

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  Count stages = 1, chunks = 1, micro_batches = 1;
};

// Schedules that treat the gradient of the weights as a pass of its own.
bool SplitsBackward(PipelineSchedule schedule);

// When each pass runs: every device takes its passes in order, each as soon as its inputs are there; what one device sends
// another arrives `transfer` later. `passes` has stages x chunks places, in the order a micro-batch visits them (dualpipe:
// stages places, and the second half of the micro-batches visits them in reverse).
std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer = {});

// The end of that timeline without making it.
Seconds ScheduleLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer = {});

}  // namespace slipstick
