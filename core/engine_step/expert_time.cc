#include "core/engine_step/expert_time.h"

#include "core/base/figure.h"
#include "core/engine_step/imbalance.h"
#include "core/engine_step/product_time.h"
#include "core/operators/efficiency.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// Routing and small kernels. Where rows are sorted by expert token by token, a pass of many tokens waits for that.
Seconds FixedTime(const Deployment& deployment, Ratio group_tokens) {
  const Seconds overhead = deployment.engine.kernels.moe_layer_overhead;
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  if (!stored || !HasWeightOnlyExperts(deployment.formats)) return overhead;
  return Figure("Routing, small kernels and sorting", overhead + stored->token_walk * (group_tokens - 1),
                "a warp per expert walks the tokens; a single one needs none");
}

// What kernels of fp8 with block scales take for each expert that the device holds, hit or not.
void SetHeldExpert(const Deployment& deployment, MoeLayer layer, MoeKernelParameters& parameters) {
  const ServedFormats& formats = deployment.formats;
  const bool has_blocks = deployment.model.moe->block_scales && IsEightBitFloat(formats.mlp_weights) &&
                          IsEightBitFloat(formats.activations);
  if (!has_blocks || !deployment.visits_held_experts) return;
  layer.scaling = Scaling::kBlock;
  parameters.expert = IsolatedKernelParameters(layer, deployment.device).expert;
}

// The layer as one device sees it.
MoeLayer LayerOf(const Deployment& deployment, const RoutedRows& rows) {
  const Moe& moe = *deployment.model.moe;
  const ServedFormats& formats = deployment.formats;
  // The fastest library's kernels: the engine's factors are fitted over those. With its own library's instead, the
  // error of 823 measured steps rises from 12 to 29 %.
  MoeLayer layer;
  layer.tokens =
      Figure("Tokens of the expert group", rows.tokens * deployment.mapping.attention_dp, "of all attention groups");
  layer.held_tokens = rows.held;
  layer.experts = deployment.shapes.experts;
  layer.top_k = moe.top_k;
  layer.hidden = rows.width;
  layer.ffn = moe.expert_ffn;
  layer.gated = deployment.model.gated;
  layer.tp = deployment.mapping.expert_ranks;
  layer.ep = deployment.mapping.ep;
  const bool four_bit = HasFourBitExperts(deployment);
  layer.precision = four_bit ? formats.mlp_weights : formats.activations;
  layer.activation_size = four_bit ? formats.sizes.mlp_weights : formats.sizes.activations;
  layer.weights = formats.mlp_weights, layer.weight_size = formats.sizes.mlp_weights;
  layer.imbalance = ImbalanceOf(deployment);
  return layer;
}

// Weight-only experts run as a single weight-only product does, or by the engine's own kernels.
void SetWeightOnly(const Deployment& deployment, const MoeLayer& layer, MoeKernelParameters& parameters) {
  if (!HasWeightOnlyExperts(deployment.formats)) return;
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  if (!stored) return;
  const Biases biases = deployment.model.biases;
  parameters.pass_bytes = stored->pass_bytes;
  parameters.biases = biases == Biases::kMlp || biases == Biases::kAll ? 1 : 0;
  const Ratio tile_rows = Figure("Rows of a tile", min(Ratio(stored->tile_rows), layer.tokens),
                                 "one for each token of the pass, up to the largest");
  SetStored(deployment, layer.tokens <= Ratio(stored->vector_tokens), tile_rows, parameters.product);
}

}  // namespace

KernelTime TimeExperts(const Deployment& deployment, const RoutedRows& rows) {
  const MoeLayer layer = LayerOf(deployment, rows);
  MoeKernelParameters parameters = ServingKernelParameters(layer, deployment.device);
  SetWeightOnly(deployment, layer, parameters);
  parameters.launch = FixedTime(deployment, layer.tokens);
  SetHeldExpert(deployment, layer, parameters);
  parameters.engine_gemm_efficiency = deployment.expert_gemm_efficiency;
  parameters.engine_bandwidth_efficiency = deployment.expert_bandwidth_efficiency;
  return TimeOf(layer, deployment.device, parameters);
}

bool HasFourBitExperts(const Deployment& deployment) {
  const Precision weights = deployment.formats.mlp_weights;
  return IsFourBitFloat(weights) && BytesPerElement(deployment.formats.activations) < 2 &&
         Supports(deployment.device, weights);
}

RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase) {
  const Ratio width = RoutedWidth(deployment.model);
  if (deployment.mapping.attention_dp <= 1) return {TimeExperts(deployment, {rows, rows, width}), {}};
  const auto with = [&](const ExpertTraffic& traffic) {
    return RoutedExperts{TimeExperts(deployment, {rows, traffic.held_tokens, width}), traffic};
  };
  if (deployment.network.expert_exchange != nullptr) return with(SendTokens(deployment, rows, phase));
  // One after the other: both are logged, in the same order under every compiler.
  const RoutedExperts gathered = with(GatherTokens(deployment, rows)), sent = with(SendTokens(deployment, rows, phase));
  const auto total = [](const RoutedExperts& one) { return one.traffic.kernel.time + one.experts.time; };
  return total(gathered) <= total(sent) ? gathered : sent;
}

}  // namespace slipstick
