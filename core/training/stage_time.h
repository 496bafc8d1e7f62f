// What each pipeline stage spends on one micro-batch.
#pragma once

#include <vector>

#include "core/training/context.h"
#include "core/training/layer_time.h"
#include "core/training/memory.h"
#include "core/training/stage.h"

namespace slipstick {

// Weights gathered and gradients scattered a layer at a time (ZeRO-3, FSDP).
struct ShardedLayer {
  Seconds forward, backward;            // exposed
  Seconds weight;                       // of backward: beside the gradients of the weights, where they are a pass of their own
  Seconds forward_link, backward_link;  // on the links
};

// Times that do not depend on how layers are placed on stages: what a search may keep between mappings.
struct LayerTimes {
  ByKind<LayerTime> rest, full;  // as the recomputation plan has it; repeated whole
  ByKind<ShardedLayer> sharded_rest, sharded_full;
  ByKind<Seconds> to_host_rest, to_host_full;  // all that a layer keeps for its backward pass, one way
  ShardedLayer sharded_ends;                   // once a micro-batch: the embedding, and the scatter that nothing follows
  LayerTime embedding, head;
  double full_share = 0;
};
LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute, Trace& trace,
                      std::vector<TimedOperator>* operators);

struct StageTime {
  LayerPass forward, backward, recompute;
  Seconds sharded_forward, sharded_backward, sharded_link;
  Seconds host_forward, host_backward, host_link;
  Seconds weight;  // of Backward(): the pass that a schedule may postpone
  Flops executed;
  [[nodiscard]] Seconds Forward() const { return forward.Total() + sharded_forward + host_forward; }
  [[nodiscard]] Seconds Backward() const { return backward.Total() + recompute.Total() + sharded_backward + host_backward; }
  [[nodiscard]] Seconds Total() const { return Forward() + Backward(); }
};
// The two in the given shares.
StageTime Mixed(const StageTime& a, double share_a, const StageTime& b, double share_b);

// Of the layers given, with the ends where the flags say so; the model's MTP modules ride on the head.
StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head);

// A device's share of a stage's micro-batches.
struct StageShare {
  const Stage* stage;
  double share;
};
// Records how `stage`, a device's micro-batch, adds up from layers and ends, in the mean over what it does of each stage.
void ExplainStage(const TrainingContext& context, const LayerTimes& times, const std::vector<StageShare>& stages, const StageTime& stage,
                  Trace& trace);

}  // namespace slipstick
