// Time of a layer, of the embedding and of the output head for one micro-batch on one device.
#pragma once

#include <vector>

#include "core/training/context.h"
#include "core/training/layer_work.h"
#include "core/training/training.h"

namespace slipstick {

// One direction of one pass. The parts add up to it; of communication what shows.
struct LayerPass {
  Seconds compute, tp, cp, ep, host;
  Seconds tp_link, cp_link, ep_link;  // whether it shows or not
  [[nodiscard]] Seconds Total() const { return compute + tp + cp + ep + host; }
  LayerPass& operator+=(const LayerPass& other);
  friend LayerPass operator*(LayerPass pass, double times);
};

// What a layer that is not repeated whole computes again in the backward pass.
struct RecomputePlan {
  bool norms = false;  // norms and activation functions
  bool core = false;   // the attention core
  bool own = false;    // a framework's own selection of operators
  double share = 0;    // of the forward pass, that this selection repeats
  friend bool operator==(const RecomputePlan&, const RecomputePlan&) = default;
};

struct LayerTime {
  LayerPass forward, backward, recompute;
  Seconds weight_compute;   // of the backward pass: gradients of the weights
  Seconds weight_gradient;  // of the backward pass: the pass that a schedule may postpone, with its waits; none where it is not split
  Flops forward_flops;      // of the products and the attention core as computed
  Flops executed;           // of all passes, with what is computed again
  Flops repeated;           // of them, what is computed again
  [[nodiscard]] Seconds Backward() const { return backward.Total() + recompute.Total(); }
  [[nodiscard]] Seconds Total() const { return forward.Total() + Backward(); }
};

// Whether the schedule makes two passes of the backward pass: gradients of the inputs, then those of the weights.
bool SplitsBackward(const TrainingContext& context);

// `operators`, where given, gets the layer's operators.
LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace,
                    std::vector<TimedOperator>* operators = nullptr);

// The same layer with its whole forward pass computed again instead, tensor-parallel exchange included.
LayerTime RepeatedWhole(const TrainingContext& context, const LayerWork& work, LayerTime time);

// The first stage's embedding, the last stage's head and loss.
LayerTime TimeEmbedding(const TrainingContext& context, Trace& trace);
LayerTime TimeHead(const TrainingContext& context, Trace& trace);

}  // namespace slipstick
