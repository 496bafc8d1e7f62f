// Components of a pipeline stage, and how its time adds up from them.
#pragma once

#include <string_view>

#include "core/training_stage/layer_time.h"
#include "core/training_stage/stage.h"

namespace slipstick {

// All-gather of weights and reduce-scatter of gradients, layer by layer (ZeRO-3, FSDP).
struct ShardedLayer {
  Seconds forward, backward;  // exposed
  Seconds weight_gradient;    // the part of backward beside the weight gradients, where they are a pass of their own
  Seconds forward_link, backward_link;  // on the links
};

// Times of layers, which do not depend on their placement on stages: a search keeps them between mappings.
struct LayerTimes {
  ByKind<LayerTime> selective, full_recompute;  // under RecomputeChoice::selective; recomputed as a whole
  ByKind<ShardedLayer> sharded_selective, sharded_full_recompute;
  ByKind<Seconds> offload_selective, offload_full_recompute;  // all activations of a layer to the host, one way
  ByKind<Bytes> kept_selective, kept_full_recompute;          // these activations
  ShardedLayer
      sharded_embedding;  // per micro-batch: gather of the embedding, and the last scatter, which no compute hides
  LayerTime embedding, head;
  RecomputeChoice recompute;
};
struct StageTime {
  LayerPass forward, backward, recompute;
  Seconds sharded_forward, sharded_backward, sharded_link;
  Seconds host_forward, host_backward, host_link;  // activation offload: exposed, exposed, on the link
  Seconds weight_gradient;                         // the part of Backward() that a schedule may postpone
  [[nodiscard]] Seconds Forward() const { return forward.Total() + sharded_forward + host_forward; }
  [[nodiscard]] Seconds Backward() const {
    return backward.Total() + recompute.Total() + sharded_backward + host_backward;
  }
  [[nodiscard]] Seconds Total() const { return Forward() + Backward(); }
};
// Exposed transfers of an offloaded layer.
struct HostTransfer {
  Seconds forward, backward;
  Seconds weight_gradient;  // the part of backward behind the weight gradients, where they are a pass of their own
};

// Offload overlaps the forward pass, reload the backward pass; a split backward pass hides half of the reload behind
// each part. Sharded weights use their own link at the same time, so only the longer of the two transfers is exposed.
HostTransfer ExposedOffload(Seconds one, const LayerTime& time, const ShardedLayer& sharded, Trace& trace);

// One component of a stage: a group of identical layers, the embedding, or the head.
struct StagePart {
  const LayerTime* time;
  ShardedLayer sharded;
  Seconds offload;        // all of a layer's activations, one way
  bool is_full = false;   // recomputed as a whole
  double placed = 1;      // layers of the kind, recomputed or not
  double recomputed = 0;  // of these, recomputed as a whole
};

// Calls visit(name, part, count) for each component.
template <class Visit>
void VisitStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                bool head, const Visit& visit) {
  const auto visit_some = [&visit](std::string_view name, const StagePart& part, double count) {
    if (count != 0) visit(name, part, count);
  };
  for (const LayerKind kind : kLayerKinds) {
    const std::string_view name = NameOf(kind);
    const double placed = layers.of[kind], full = FullLayers(times.recompute, layers, kind);
    visit_some(
        name,
        {&times.selective[kind], times.sharded_selective[kind], times.offload_selective[kind], false, placed, full},
        placed - full);
    visit_some(name,
               {&times.full_recompute[kind], times.sharded_full_recompute[kind], times.offload_full_recompute[kind],
                true, placed, full},
               full);
  }
  if (embedding) visit_some("embedding", {&times.embedding, times.sharded_embedding, {}}, 1);
  if (head) {
    const auto modules = static_cast<double>(context.model.mtp_layers);
    const LayerKind last = MtpKind(context);
    // A module is no layer of a virtual stage.
    const double full = times.recompute.is_leading ? 0 : times.recompute.full_share * modules;
    visit_some("output_head", {&times.head, {}, {}}, 1 + modules);
    visit_some("mtp_module", {&times.selective[last], times.sharded_selective[last], {}, false, modules, full},
               modules - full);
    visit_some("mtp_module", {&times.full_recompute[last], times.sharded_full_recompute[last], {}, true, modules, full},
               full);
  }
}

// Binds the figures of every component, once all are timed: the activations of a layer on the host link, whether
// offloaded or not, and the parts that ExplainStage sums up.
void BindComponents(const TrainingContext& context, const LayerTimes& times, Trace& trace);

// FLOPs that the kernels of a micro-batch execute on all stages, recorded as micro_batch_flops.
Flops FlopsOfStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& stages,
                    Trace& trace);

// A stage and the share of its micro-batches that a device computes.
struct StageShare {
  const Stage* stage;
  double share;
  std::size_t index;
};
// Records how a device's `stage` time adds up from the components of the stages it shares: pass_forward, pass_tp and so
// on, the same with
// "_link" for communication on the links, stage_forward and stage_backward.
void ExplainStage(const TrainingContext& context, const LayerTimes& times, const std::vector<StageShare>& stages,
                  const StageTime& stage, Trace& trace);

}  // namespace slipstick
