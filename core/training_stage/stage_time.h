// Time of one micro-batch on each pipeline stage.
#pragma once

#include <vector>

#include "core/training_stage/context.h"
#include "core/training_stage/host_copies.h"
#include "core/training_stage/layer_time.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/stage.h"

namespace slipstick {

// All-gather of weights and reduce-scatter of gradients, layer by layer (ZeRO-3, FSDP).
struct ShardedLayer {
  Seconds forward, backward;  // exposed
  Seconds weight_gradient;    // the part of backward next to the weight gradients, if these are a separate pass
  Seconds forward_link, backward_link;  // on the links
};

// A component of a stage for one micro-batch: a layer, the embedding or the head.
struct StagePart {
  LayerTime time;
  ShardedLayer sharded;
  Seconds activations;  // copying all that it keeps to the host, one way
  HeldWeights weights;
};

// Times of components, which do not depend on their placement on stages: a search keeps them between mappings.
struct LayerTimes {
  ByKind<StagePart> selective, full_recompute;  // under RecomputeChoice::selective; recomputed as a whole
  // The embedding's ZeRO-3 communication: its gather, and the last scatter of a step, which no compute hides.
  StagePart embedding, head;
  RecomputeChoice recompute;
};
struct StageTime {
  LayerPass forward, backward, recompute;
  Seconds sharded_forward, sharded_backward, sharded_link;
  Seconds host_forward, host_backward, host_link;  // offload: exposed, exposed, on the link
  Seconds weight_gradient;                         // the part of Backward() that a schedule may postpone
  [[nodiscard]] Seconds Forward() const { return forward.Total() + sharded_forward + host_forward; }
  [[nodiscard]] Seconds Backward() const {
    return backward.Total() + recompute.Total() + sharded_backward + host_backward;
  }
  [[nodiscard]] Seconds Total() const { return Forward() + Backward(); }
};

// FLOPs that the kernels execute for a micro-batch on all stages.
Flops FlopsOfStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& stages);

// Operators of the first kind of layer, if requested, and the time of every kind by bound.
struct StepOperators {
  bool is_listed = true;
  std::vector<TimedOperator> first;
  ByKind<TimeByBound> by_bound;
};
// Times every kind of layer that the model has. Writes the operators to `operators`, if given.
LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute,
                      StepOperators* operators);

// The stage with the longest passes; of equals, the first.
const StageTime& SlowestOf(const std::vector<StageTime>& stages);

StageTime WeightedAverage(const StageTime& a, Ratio share_a, const StageTime& b, Ratio share_b);

// Time of the given layers, of the embedding and of the head; MTP modules belong to the head.
StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                    bool head);

}  // namespace slipstick
