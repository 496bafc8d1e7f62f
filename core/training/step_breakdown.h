// Composes a step from its stages' passes, the sends between stages and the gradient exchange.
#pragma once

#include <vector>

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/schedule_types.h"
#include "core/training_stage/stage_time.h"

namespace slipstick {

// Sends between pipeline stages.
struct PipelineSends {
  Seconds one;            // a single send
  Seconds exposed, link;  // per micro-batch
  Seconds transfer;       // the part of a send outside the passes, which the next stage waits for
};
PipelineSends TimePipelineSends(const TrainingContext& context);

// Input of the schedule simulation; its numbers have no nodes.
struct Pipeline {
  PipelineShape shape;
  std::vector<StagePass> passes;  // one per virtual stage, including exposed sends
  Seconds transfer;               // of a send
};
Pipeline PipelineOf(const TrainingContext& context, const LayerTimes& times,
                    const std::vector<KindCounts>& virtual_stages, const PipelineSends& sends);

// Mean time of a micro-batch on each device: under DualPipe a device computes its own stage and the mirrored one.
std::vector<StageTime> DeviceTimes(const TrainingContext& context, std::vector<StageTime> stages);

// The step of the slowest device.
struct StepBreakdown {
  Seconds step_time;  // sum of all parts
  StepTime time;
  LinkTime link;
  Seconds schedule_length;
};
// `stages`: times per device (DeviceTimes); `plan`: the stages from which they were computed.
StepBreakdown BreakDownStep(const TrainingContext& context, const std::vector<StageTime>& stages,
                            const std::vector<Stage>& plan, const Pipeline& pipeline, const PipelineSends& sends);

// The exposed communication of a step, by the network level that each group of ranks crosses.
std::vector<NetworkLevelTime> NetworkTimeByLevel(const TrainingContext& context, const StepTime& time);

}  // namespace slipstick
