// Pipeline schedules: the order in which a stage takes its passes, and when each runs.
#pragma once

#include <vector>

#include "core/training/training.h"

namespace slipstick {

// Times of one micro-batch on one virtual stage.
struct StagePass {
  Seconds forward, backward, weight;  // weight: the part of the backward pass that may wait (zero-bubble schedules), else 0
};

struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::kOneFOneB;
  Count stages = 1, chunks = 1, micro_batches = 1;
};

// When each pass runs: every stage takes its passes in the schedule's order, each as soon as its inputs are there, transfers
// taking no time. `passes` has stages x chunks places, in the order a micro-batch visits them (dualpipe: stages places, and
// the second half of the micro-batches visits them in reverse).
//   GPipe        all forward, all backward                             Huang et al. 2019
//   1F1B         p - i forward first, then one of each                 Narayanan et al. 2021
//   interleaved  2(p - 1 - i) + (v - 1)p chunks first                  Narayanan et al. 2021
//   ZB-H1        p - i forward first; weight gradients i passes late   Qi et al. 2023
//   ZB-V, DualPipe  the first pass that is ready, backward before forward before weight, so many in flight at most
std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes);

// Idle time of a stage beyond its own work over the step, closed forms for equal stages (transformer literature above);
// `others` holds the sums of one micro-batch's passes over all stages but the slowest, all chunks.
Seconds BubbleTime(const PipelineShape& shape, const StagePass& others, const StagePass& slowest);

}  // namespace slipstick
