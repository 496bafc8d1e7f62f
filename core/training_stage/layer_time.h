// Time of a layer, of the embedding and of the output head for one micro-batch on one device.
#pragma once

#include "core/base/quantity.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/product_time.h"
#include "core/training_stage/recompute_choice.h"

namespace slipstick {

// One pass of one micro-batch. The parts add up to the pass; communication counts only its exposed part.
struct LayerPass {
  Seconds compute, tp, cp, ep, host;
  Seconds tp_link, cp_link, ep_link;  // exposed or hidden
  [[nodiscard]] Seconds Total() const { return compute + tp + cp + ep + host; }
  LayerPass& operator+=(const LayerPass& other);
  friend LayerPass operator*(LayerPass pass, Ratio times);
};

struct LayerTime {
  LayerPass forward, backward, recompute;
  Seconds weight_gradient_compute;  // the part of backward.compute that computes weight gradients
  Seconds weight_gradient;  // part of Backward() that the schedule may postpone, including host waits; 0 if it is
                            // not split
  // FLOPs of GEMMs and attention core, as the kernels execute them.
  Flops forward_flops, backward_flops, recomputed_flops, all_flops;
  // The part of the forward pass that a framework which stops recomputing early omits from a full recomputation.
  Seconds unneeded;
  Flops unneeded_flops;
  [[nodiscard]] Seconds Backward() const { return backward.Total() + recompute.Total(); }
  [[nodiscard]] Seconds Total() const { return forward.Total() + Backward(); }
};

// A layer under selective recomputation. Appends the layer's operators to `operators`, if given.
LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                    LayerOperators* operators = nullptr);

// The same layer with its whole forward pass recomputed, including TP communication.
LayerTime WithFullRecompute(const TrainingContext& context, const LayerWork& work, LayerTime time);

// The embedding, on the first stage; the head and the loss, on the last.
LayerTime TimeEmbedding(const TrainingContext& context);
LayerTime TimeHead(const TrainingContext& context);

}  // namespace slipstick
