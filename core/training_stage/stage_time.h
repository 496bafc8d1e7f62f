// Time of one micro-batch on each pipeline stage.
#pragma once

#include <vector>

#include "core/training_stage/context.h"
#include "core/training_stage/layer_time.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/stage_parts.h"

namespace slipstick {

// Operators of the first kind of layer, where asked for, and the time of every kind's by what bounds them.
struct StepOperators {
  bool is_listed = true;
  std::vector<TimedOperator> first;
  ByKind<TimeByBound> by_bound;
};
// Times every kind of layer that the model has. `operators`, where given, gets theirs.
LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute,
                      StepOperators* operators);

StageTime WeightedAverage(const StageTime& a, Ratio share_a, const StageTime& b, Ratio share_b);

// Time of the layers given, of the embedding and of the head; MTP modules belong to the head.
StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                    bool head);

}  // namespace slipstick
