#include "core/engine_step/imbalance.h"

#include "core/base/figure.h"
#include "core/operators/kernel_family.h"

namespace slipstick {
namespace {

// Whoever copies experts, or exchanges tokens over many devices by the engine's own kernels, balances; within a server
// nobody does. The mean of n experts varies by 1/sqrt(n) of what one does, and the busiest of p devices lies sqrt(2 ln
// p) deviations above the mean.
Ratio ExpectedImbalance(const Deployment& deployment) {
  const Ratio experts = deployment.shapes.experts, ep = deployment.mapping.ep;
  const bool is_balanced = deployment.load.redundant_experts > 0 || deployment.network.expert_exchange != nullptr;
  const Ratio variation = is_balanced ? deployment.engine.kernels.load_variation
                                      : deployment.device.architecture->experts.routing_preference;
  return Figure(
      "Imbalance to expect",
      min(min(ep, experts / Ratio(deployment.model.moe->top_k)), 1 + variation * sqrt(2 * log(ep) * ep / experts)),
      "of how much likelier some experts are, or what a balancer with redundant copies leaves of that; a "
      "token goes to each expert once");
}

}  // namespace

// Every device holds the same number of copies. Of an imbalance that the model states, redundant copies share the
// tokens of the busiest experts; where it states none, the expected one applies.
Ratio ImbalanceOf(const Deployment& deployment) {
  const Ratio ep = deployment.mapping.ep, redundant(deployment.load.redundant_experts);
  if (ep <= 1) return 1;
  if (!deployment.model.moe->imbalance) return ExpectedImbalance(deployment);
  const Ratio stated = *deployment.model.moe->imbalance, shared = 1 + (stated - 1) / (1 + redundant / ep);
  return Figure("Tokens of the busiest device over the mean",
                Exactly(redundant > 0 ? shared.base() : stated.base(), shared),
                "the excess is shared with the redundant copies of the busiest experts");
}

}  // namespace slipstick
