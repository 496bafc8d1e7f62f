// How a step is made of its stages' passes, the sends between them and the exchange of gradients.
#pragma once

#include <vector>

#include "core/training/context.h"
#include "core/training/schedule.h"
#include "core/training/stage_time.h"
#include "core/training/training.h"

namespace slipstick {

// Sends between stages: what one takes, and what of them shows a micro-batch.
struct Sends {
  Seconds one, exposed, link;
};
Sends TimeSends(const TrainingContext& context, Trace& trace);

// The passes of every virtual stage, lengthened by what shows of the sends.
struct Pipeline {
  PipelineShape shape;
  std::vector<StagePass> passes;
  Seconds transfer;  // of a send, what does not lengthen a pass: the next stage waits for it
};
Pipeline PipelineOf(const TrainingContext& context, const LayerTimes& times, const std::vector<LayerCounts>& virtual_stages,
                    const Sends& sends);

// What a device spends on one micro-batch in the mean.
std::vector<StageTime> DeviceTimes(const TrainingContext& context, std::vector<StageTime> stages);

// The step as its slowest stage sees it.
struct Composition {
  StepTime time;
  LinkTime link;
  Seconds pipeline;  // length of the schedule
};
// `stages` as devices spend their time, `plan` and `times` what they are made of.
Composition Compose(const TrainingContext& context, const LayerTimes& times, const std::vector<StageTime>& stages,
                    const std::vector<Stage>& plan, const Pipeline& pipeline, const Sends& sends, Trace& trace);

}  // namespace slipstick
