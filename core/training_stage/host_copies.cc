#include "core/training_stage/host_copies.h"

#include <string_view>

#include "core/base/figure.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

Seconds Beyond(std::string_view title, Seconds copies, Seconds pass) {
  return Figure(title, max(0 * kS, copies - pass), "not hidden by the pass");
}

}  // namespace

HostCopies CopiesOf(const TrainingContext& context, Seconds activations, const HeldWeights& weights,
                    Ratio weight_bytes) {
  const TrainingRun& run = context.run;
  const BytesPerSecond bandwidth = context.device().host.bandwidth;
  const Ratio held = PerRank(weights, ShardsFrom(3, run, context.shape)),
              trained = PerRank(TrainedOf(run, weights), ShardsFrom(2, run, context.shape));
  HostCopies copies;
  copies.activations = run.offload.activations * activations;
  copies.weights =
      Figure("Weights of a pass on the host link", run.offload.parameters * weight_bytes * kB * held / bandwidth);
  copies.gradients =
      Figure("Gradients of a micro-batch on the host link", OffloadedGradients(context) * 2 * kB * trained / bandwidth,
             "in 16 bits; the host adds them up");
  return copies;
}

ExposedCopies ExposedBeside(const HidingPasses& passes, const HostCopies& copies) {
  ExposedCopies exposed;
  exposed.forward = Beyond("Exposed copies of a forward pass", max(copies.activations, copies.weights), passes.forward);
  if (passes.weight_gradient > Seconds{}) {
    const Seconds half = copies.activations / 2;
    exposed.weight_gradient =
        Beyond("Exposed copies beside the weight gradients", max(half, copies.gradients), passes.weight_gradient);
    exposed.backward =
        Beyond("Exposed copies of a backward pass", half + copies.weights, passes.backward - passes.weight_gradient) +
        exposed.weight_gradient;
  } else {
    exposed.backward = Beyond("Exposed copies of a backward pass",
                              max(copies.activations + copies.weights, copies.gradients), passes.backward);
  }
  return exposed;
}

}  // namespace slipstick
