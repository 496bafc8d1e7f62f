#include "core/serving/expert_time.h"

#include "core/operators/efficiency.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// Bandwidth efficiency of four-bit experts over that of GEMMs: 0.95 of the bandwidth on B200, where GEMMs reach 0.72.
constexpr double kFourBitStream = 1.3;

KernelTime Experts(const Deployment& deployment, double rows, double held_tokens, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Moe& moe = *deployment.model.moe;
  MoeLayer layer;
  layer.held_tokens = held_tokens;
  layer.experts = deployment.shapes.experts;
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = deployment.shapes.hidden;
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.tp = deployment.mapping.expert_ranks;
  layer.ep = deployment.mapping.ep;
  // Four-bit weights with 8-bit activations run on four-bit units, if the device has them.
  const bool four_bit = IsFourBitFloat(deployment.formats.mlp_weights) && BytesPerElement(deployment.formats.activations) < 2 &&
                        Supports(deployment.device, deployment.formats.mlp_weights);
  layer.precision = four_bit ? deployment.formats.mlp_weights : deployment.formats.activations;
  layer.weights = deployment.formats.mlp_weights;
  layer.imbalance = ImbalanceOf(deployment, trace);
  const double attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, group_tokens, rows * attention_dp, (Note{"Tokens of the expert group", "of all attention groups"}), rows, attention_dp);
  layer.tokens = group_tokens;
  MoeKernelParameters parameters = ServingKernelParameters(layer, deployment.device);
  layer.scaling = Scaling::kBlock;
  parameters.permute_efficiency =
      ServingKernelParameters(layer, deployment.device).permute_efficiency;  // block scales travel with the tokens
  layer.scaling = Scaling::kTensor;
  if (BytesPerElement(deployment.formats.mlp_weights) < 1 && BytesPerElement(deployment.formats.activations) >= 2) {
    // Weight-only experts run at the rate, latency and bandwidth of weight-only GEMMs.
    parameters.product.gemm_efficiency = min(1.0, 1.065 * *deployment.device.efficiency.gemm_efficiency);
    parameters.product.step_latency = 25 * kNs;
    parameters.weight_bandwidth_gain = 1.1;
    parameters.permute_efficiency = 0.55;
  }
  parameters.launch = deployment.engine.kernels.moe_layer_overhead;
  trace.Input("launch", parameters.launch, "serving.engine.experts");
  parameters.engine_gemm_efficiency = deployment.expert_gemm_efficiency;
  parameters.engine_bandwidth_efficiency = four_bit ? kFourBitStream : deployment.expert_bandwidth_efficiency;
  parameters.product.gemm_efficiency *= deployment.expert_gemm_efficiency;
  if (four_bit) parameters.weight_bandwidth_gain = 1;
  parameters.bandwidth_gain *= parameters.engine_bandwidth_efficiency;
  return TimeOf(layer, deployment.device, parameters, trace);
}

}  // namespace

RoutedExperts Routed(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  if (deployment.mapping.attention_dp <= 1) {
    trace.Alias("held_tokens", rows, "rows");
    return {Experts(deployment, rows, rows, trace), {}};
  }
  Trace off = Trace::Off();
  const auto total = [&](const ExpertTraffic& traffic) {
    return traffic.kernel.time + Experts(deployment, rows, traffic.held_tokens, off).time;
  };
  const bool gathers = deployment.network.expert_exchange == nullptr &&
                       total(GatherTokens(deployment, rows, off)) <= total(SendTokens(deployment, rows, phase, off));
  const ExpertTraffic traffic = gathers ? GatherTokens(deployment, rows, trace) : SendTokens(deployment, rows, phase, trace);
  return {Experts(deployment, rows, traffic.held_tokens, trace), traffic};
}

}  // namespace slipstick
