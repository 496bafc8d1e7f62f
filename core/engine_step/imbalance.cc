#include "core/engine_step/imbalance.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Whoever copies experts, or exchanges tokens over many devices by the engine's own kernels, balances; within a server
// nobody does. The mean of n experts varies by 1/sqrt(n) of what one does, and the busiest of p devices lies sqrt(2 ln
// p) deviations above the mean.
double ExpectedImbalance(const Deployment& deployment, Trace& trace) {
  const double held_experts = deployment.shapes.experts, ep = deployment.mapping.ep;
  const auto top_k = static_cast<double>(deployment.model.moe->top_k);
  const ExpertTable& table = deployment.device.architecture->experts;
  const bool is_balanced = deployment.load.redundant_experts > 0 || deployment.network.expert_exchange != nullptr;
  const double variation =
      is_balanced ? Ratio(deployment.engine.kernels.load_variation) : table.serving.routing_preference;
  if (is_balanced) {
    trace.Input("variation", variation, "serving.engine.load_variation");
  } else {
    const double preference = variation;
    CONSTANTS(trace, KernelTable(deployment.device, "experts.serving"), table.source, preference);
    trace.Alias("variation", variation, "preference");
  }
  trace.Input("top_k", top_k, "model.moe.top_k");
  FIGURE(trace, expected, min(min(ep, held_experts / top_k), 1 + variation * sqrt(2 * log(ep) * ep / held_experts)),
         (Note{"Imbalance to expect",
               "of how much likelier some experts are, or what a balancer with redundant copies leaves of that; a "
               "token goes to each "
               "expert once"}),
         ep, held_experts, top_k, variation);
  return expected;
}

}  // namespace

// Every device holds the same number of copies. Of an imbalance that the model states, redundant copies share the
// tokens of the busiest experts; where it states none, the expected one applies.
double ImbalanceOf(const Deployment& deployment, Trace& trace) {
  if (deployment.mapping.ep <= 1)
    return trace.Constant("imbalance", 1.0, "serving.experts", "every device has a part of every expert");
  if (!deployment.model.moe->imbalance) {
    const double expected = ExpectedImbalance(deployment, trace);
    trace.Alias("imbalance", expected, "expected");
    return expected;
  }
  const double stated = *deployment.model.moe->imbalance,
               redundant_experts = static_cast<double>(deployment.load.redundant_experts), ep = deployment.mapping.ep;
  trace.Input("stated", stated, "model.moe.imbalance");
  const double imbalance = redundant_experts > 0 ? 1 + (stated - 1) / (1 + redundant_experts / ep) : stated;
  trace.Record("imbalance", "1 + (stated - 1) / (1 + redundant_experts / ep)", imbalance,
               Note{"Tokens of the busiest device over the mean",
                    "the excess is shared with the redundant copies of the busiest experts"},
               "stated, redundant_experts, ep", stated, redundant_experts, ep);
  return imbalance;
}

}  // namespace slipstick
