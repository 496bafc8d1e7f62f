// Copies between device and host during the passes of a micro-batch: offloaded activations, weights, gradients.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/held_weights.h"

namespace slipstick {

// Copies of one component of a stage, each one way. Activations leave in the forward pass and return in the backward
// pass, weights arrive for both, gradients leave in the backward pass. The link carries both directions at once.
struct HostCopies {
  Seconds activations, weights, gradients;
};
// `weight_bytes`: per parameter, as the rank holds it.
HostCopies CopiesOf(const TrainingContext& context, Seconds activations, const HeldWeights& weights,
                    Ratio weight_bytes);

// Passes that can hide copies; weight_gradient: time of the weight gradients if they are a separate pass, else 0.
struct HidingPasses {
  Seconds forward, backward, weight_gradient;
};

// The part of the copies that the passes do not hide.
struct ExposedCopies {
  Seconds forward, backward;
  Seconds weight_gradient;  // the part of `backward` during the weight-gradient pass
};
// With separate weight gradients, half of the activations hide behind each part of the backward pass, the weights
// behind the first part, the gradients behind the second.
ExposedCopies ExposedBeside(const HidingPasses& passes, const HostCopies& copies);

}  // namespace slipstick
