// Copies between a device and its host beside the passes of a micro-batch: offloaded activations, weights, gradients.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/held_weights.h"

namespace slipstick {

// Of one part of a stage, each one way. Activations leave in the forward pass and return in the backward pass, weights
// come for both, gradients leave in the backward pass. Both directions of the link run at once.
struct HostCopies {
  Seconds activations, weights, gradients;
};
// `weight_bytes`: per parameter, as the rank holds it.
HostCopies CopiesOf(const TrainingContext& context, Seconds activations, const HeldWeights& weights,
                    Ratio weight_bytes);

// The passes beside which they run, and how long the weight gradients take if they have a pass of their own.
struct HidingPasses {
  Seconds forward, backward, weight_gradient;
};

// What the passes don't hide.
struct ExposedCopies {
  Seconds forward, backward;
  Seconds weight_gradient;  // the part of backward behind the weight gradients
};
// A split backward pass hides half of the activations behind each part, the weights behind the first, the gradients
// behind the second.
ExposedCopies ExposedBeside(const HidingPasses& passes, const HostCopies& copies);

}  // namespace slipstick
