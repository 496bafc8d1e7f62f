// Time of one micro-batch on each pipeline stage.
#pragma once

#include <vector>

#include "core/training/context.h"
#include "core/training/layer_time.h"
#include "core/training/recompute_choice.h"
#include "core/training/stage.h"

namespace slipstick {

// All-gather of weights and reduce-scatter of gradients, layer by layer (ZeRO-3, FSDP).
struct ShardedLayer {
  Seconds forward, backward;            // exposed
  Seconds weight_gradient;              // the part of backward beside the weight gradients, where they are a pass of their own
  Seconds forward_link, backward_link;  // on the links
};

// Times of layers, which do not depend on their placement on stages: a search keeps them between mappings.
struct LayerTimes {
  ByKind<LayerTime> selective, full_recompute;  // under RecomputeChoice::selective; recomputed as a whole
  ByKind<ShardedLayer> sharded_selective, sharded_full_recompute;
  ByKind<Seconds> offload_selective, offload_full_recompute;  // all activations of a layer to the host, one way
  ShardedLayer sharded_embedding;  // per micro-batch: gather of the embedding, and the last scatter, which no compute hides
  LayerTime embedding, head;
  double full_share = 0;  // RecomputeChoice::full_share
};
// Times every kind of layer that the model has. `operators`, where given, gets the operators of the first kind.
LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute, Trace& trace,
                      std::vector<TimedOperator>* operators);

struct StageTime {
  LayerPass forward, backward, recompute;
  Seconds sharded_forward, sharded_backward, sharded_link;
  Seconds host_forward, host_backward, host_link;  // activation offload: exposed, exposed, on the link
  Seconds weight_gradient;                         // the part of Backward() that a schedule may postpone
  Flops hardware_flops;
  [[nodiscard]] Seconds Forward() const { return forward.Total() + sharded_forward + host_forward; }
  [[nodiscard]] Seconds Backward() const { return backward.Total() + recompute.Total() + sharded_backward + host_backward; }
  [[nodiscard]] Seconds Total() const { return Forward() + Backward(); }
};
StageTime WeightedAverage(const StageTime& a, double share_a, const StageTime& b, double share_b);

// Time of the layers given, of the embedding and of the head; MTP modules belong to the head.
StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head);

// A stage and the share of its micro-batches that a device computes.
struct StageShare {
  const Stage* stage;
  double share;
};
// Records how a device's `stage` time adds up from the components of the stages it shares.
void ExplainStage(const TrainingContext& context, const LayerTimes& times, const std::vector<StageShare>& stages, const StageTime& stage,
                  Trace& trace);

}  // namespace slipstick
