#include "core/engine_step/expert_time.h"

#include "core/base/figure.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/product_time.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// Sizes of the elements of weights and of rows.
void ExplainFormats(const Deployment& deployment, const MoeLayer& layer, bool four_bit, Trace& trace) {
  if (!trace.on()) return;
  const Bytes computed = ElementSize(NativePrecision(deployment.device, layer.precision));
  const std::string_view computed_path = four_bit ? "serving.precision.weights" : "serving.precision.activations";
  BindSize("weight_size", ElementSize(layer.weights), false, "serving.precision.weights", trace);
  BindSize("activation_size", computed, false, computed_path, trace);
  BindSize("output_size", Gemm().output_bytes * kB, true, "", trace);
}

// Routing and small kernels. Where rows are sorted by expert token by token, a pass of many tokens waits for that.
Seconds FixedTime(const Deployment& deployment, double group_tokens, Trace& trace) {
  const Seconds launch = deployment.engine.kernels.moe_layer_overhead;
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  if (!stored || !HasWeightOnlyExperts(deployment.formats)) {
    trace.Input("launch", launch, "serving.engine.experts");
    return launch;
  }
  const Seconds experts = launch, token_walk = stored->token_walk;
  trace.Input("experts", experts, "serving.engine.experts");
  trace.Input("token_walk", token_walk, "serving.engine.stored_products.token_walk");
  FIGURE(trace, fixed_time, experts + token_walk * (group_tokens - 1),
         (Note{"Routing, small kernels and sorting", "a warp per expert walks the tokens; a single one needs none"}),
         experts, token_walk, group_tokens);
  trace.Alias("launch", fixed_time, "fixed_time");
  return fixed_time;
}

// What kernels of fp8 with block scales take for each expert that the device holds, hit or not.
void SetHeldExpert(const Deployment& deployment, MoeLayer layer, MoeKernelParameters& parameters, Trace& trace) {
  const ServedFormats& formats = deployment.formats;
  const bool has_blocks = deployment.model.moe->block_scales && IsEightBitFloat(formats.mlp_weights) &&
                          IsEightBitFloat(formats.activations);
  if (!has_blocks || !deployment.visits_held_experts) return;
  layer.scaling = Scaling::kBlock;
  parameters.expert = IsolatedKernelParameters(layer, Named(deployment.device, trace)).expert;
}

KernelTime Experts(const Deployment& deployment, double rows, double held_tokens, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Model& model = deployment.model;
  const Moe& moe = *model.moe;
  // The fastest library's kernels: the engine's factors are fitted over those. With its own library's instead, the
  // error of 823 measured steps rises from 12 to 29 %.
  MoeLayer layer;
  layer.held_tokens = held_tokens;
  layer.experts = deployment.shapes.experts;
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = RoutedWidth(deployment.model, trace);
  trace.Alias("hidden", layer.hidden, "routed_width");
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.gated = model.gated;
  layer.tp = deployment.mapping.expert_ranks;
  layer.ep = deployment.mapping.ep;
  const bool four_bit = HasFourBitExperts(deployment);
  layer.precision = four_bit ? deployment.formats.mlp_weights : deployment.formats.activations;
  layer.weights = deployment.formats.mlp_weights;
  layer.imbalance = ImbalanceOf(deployment, trace);
  ExplainFormats(deployment, layer, four_bit, trace);
  const double attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, group_tokens, rows * attention_dp, (Note{"Tokens of the expert group", "of all attention groups"}),
         rows, attention_dp);
  layer.tokens = group_tokens;
  const Device& device = Named(deployment.device, trace);
  MoeKernelParameters parameters = ServingKernelParameters(layer, device);
  const ServingExperts& serving = device.architecture->experts.serving;
  if (HasWeightOnlyExperts(deployment.formats)) {
    // Weight-only experts run at the rate, latency and bandwidth of weight-only GEMMs.
    parameters.product.gemm_efficiency =
        Figure("GEMM efficiency of weight-only experts",
               min(1.0, serving.weight_only_gemm_gain * *device.efficiency.gemm_efficiency), "as weight-only GEMMs");
    parameters.product.step_latency = serving.weight_only_step_latency;
    parameters.weight_bandwidth_gain = serving.weight_only_bandwidth_gain;
    parameters.permute_efficiency = serving.weight_only_permute_efficiency;
  }
  if (const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
      stored && HasWeightOnlyExperts(deployment.formats)) {
    const auto tile_rows = static_cast<double>(stored->tile_rows);
    trace.Input("tile_rows", tile_rows, "serving.engine.stored_products.tile_rows");
    FIGURE(trace, stored_tile, min(tile_rows, group_tokens),
           (Note{"Rows of a tile", "one for each token of the pass, up to the largest"}), tile_rows, group_tokens);
    trace.Input("pass_bytes", stored->pass_bytes, "serving.engine.stored_products.pass_bytes");
    parameters.pass_bytes = trace.Carry("pass_bytes", stored->pass_bytes);
    const double biases = model.biases == Biases::kMlp || model.biases == Biases::kAll ? 1 : 0;
    trace.Input("biases", biases, "model.biases");
    parameters.biases = trace.Carry("biases", Ratio(biases));
    SetStored(deployment, group_tokens <= static_cast<double>(stored->vector_tokens), stored_tile, parameters.product,
              trace);
  }
  parameters.launch = trace.Carry("launch", FixedTime(deployment, group_tokens, trace));
  SetHeldExpert(deployment, layer, parameters, trace);
  parameters.engine_gemm_efficiency = trace.Carry("expert_matrix", Ratio(deployment.expert_gemm_efficiency));
  parameters.engine_bandwidth_efficiency = trace.Carry("expert_stream", Ratio(deployment.expert_bandwidth_efficiency));
  if (four_bit) {
    // 0.95 of the bandwidth on B200, where GEMMs reach 0.72; no further factor.
    parameters.engine_bandwidth_efficiency = serving.four_bit_bandwidth_gain;
    parameters.weight_bandwidth_gain = 1;
  }
  return TimeOf(layer, deployment.device, parameters, trace);
}

}  // namespace

bool HasFourBitExperts(const Deployment& deployment) {
  const Precision weights = deployment.formats.mlp_weights;
  return IsFourBitFloat(weights) && BytesPerElement(deployment.formats.activations) < 2 &&
         Supports(deployment.device, weights);
}

RoutedExperts Routed(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  if (deployment.mapping.attention_dp <= 1) {
    trace.Alias("held_tokens", rows, "rows");
    return {Experts(deployment, rows, rows, trace), {}};
  }
  Trace off = Trace::Off();
  const auto total = [&](const ExpertTraffic& traffic) {
    return traffic.kernel.time + Experts(deployment, rows, traffic.held_tokens, off).time;
  };
  bool gathers = false;
  if (deployment.network.expert_exchange == nullptr) {
    // One after the other: both are logged, in the same order under every compiler.
    const Seconds gathered = total(GatherTokens(deployment, rows, off)),
                  sent = total(SendTokens(deployment, rows, phase, off));
    gathers = gathered <= sent;
  }
  const ExpertTraffic traffic =
      gathers ? GatherTokens(deployment, rows, trace) : SendTokens(deployment, rows, phase, trace);
  return {Experts(deployment, rows, traffic.held_tokens, trace), traffic};
}

}  // namespace slipstick
