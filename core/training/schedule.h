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

enum class PassKind : std::int8_t { kForward, kBackward, kWeight };
struct Pass {
  int visit = 0;  // virtual stage
  int micro_batch = 0;
  PassKind kind = PassKind::kForward;
  bool joined = false;  // runs together with the pass before it: both begin when all inputs are there, and end together
};

// The order of a device's passes. No schedule looks at times, so that a faster pass never makes a step longer.
//   GPipe        all forward, all backward                                Huang et al. 2019
//   1F1B         p - i forward first, then one of each                    Narayanan et al. 2021
//   interleaved  2(p - 1 - i) + (v - 1)p chunks first                     Narayanan et al. 2021
//   ZB-H1        p - i forward first; weight gradients i passes late      Qi et al., Zero Bubble Pipeline Parallelism, 2023
//   ZB-V         two chunks in a V, as its authors' handcrafted schedule  Qi et al. 2023
//   DualPipe     micro-batches from both ends; a forward and a backward pass of opposite directions run together
//                                                                         DeepSeek-V3 technical report, 2024, and its code
// The last two want at least 2p - 1 and 2p micro-batches; with fewer, those that are missing are left out.
std::vector<Pass> OrderOf(const PipelineShape& shape, Count device);

// When each pass runs: every device takes its passes in order, each as soon as its inputs are there; what one device sends
// another arrives `transfer` later. `passes` has stages x chunks places, in the order a micro-batch visits them (dualpipe:
// stages places, and the second half of the micro-batches visits them in reverse).
std::vector<ScheduledPass> Timeline(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer = {});

// The end of that timeline without making it.
Seconds ScheduleLength(const PipelineShape& shape, const std::vector<StagePass>& passes, Seconds transfer = {});

}  // namespace slipstick
