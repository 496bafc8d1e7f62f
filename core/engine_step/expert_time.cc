#include "core/engine_step/expert_time.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/product_time.h"
#include "core/operators/efficiency.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// Routing and small kernels. A kernel that sorts rows by expert one token at a time delays a pass of many tokens.
Seconds FixedTime(const Deployment& deployment, Ratio group_tokens) {
  const Seconds overhead = deployment.engine.kernels.moe_layer_overhead;
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  if (!stored || !HasWeightOnlyExperts(deployment.formats)) return overhead;
  return Figure("Routing, small kernels and sorting", overhead + stored->token_walk * (group_tokens - 1),
                "a warp per expert walks the tokens; a single one needs none");
}

// Tokens of all attention groups; tokens that a device holds before dispatch and after combine.
struct RoutedRows {
  Ratio tokens = 1, held = 1;
};

// The layer as one device sees it.
MoeLayer LayerOf(const Deployment& deployment, const RoutedRows& rows) {
  const Moe& moe = *deployment.model.moe;
  const ServedFormats& formats = deployment.formats;
  MoeLayer layer;
  layer.tokens = rows.tokens;
  layer.held_tokens = rows.held;
  layer.experts = deployment.shapes.experts;
  layer.top_k = moe.top_k;
  layer.hidden = RoutedWidth(deployment.model);
  layer.ffn = moe.expert_ffn;
  layer.gated = deployment.model.gated;
  layer.tp = deployment.mapping.expert_ranks;
  layer.ep = deployment.mapping.ep;
  const bool four_bit = HasFourBitExperts(deployment);
  layer.product.precision = four_bit ? formats.mlp_weights : formats.activations;
  layer.product.activation_size = four_bit ? formats.sizes.mlp_weights : formats.sizes.activations;
  layer.product.weights = formats.mlp_weights, layer.product.weight_size = formats.sizes.mlp_weights;
  layer.imbalance = ImbalanceOf(deployment);
  if (moe.block_scales && IsEightBitFloat(formats.mlp_weights) && IsEightBitFloat(formats.activations))
    layer.product.scaling = Scaling::kBlock;
  return layer;
}

// Weight-only experts run like a single weight-only product, or by the engine's own kernels.
void SetWeightOnly(const Deployment& deployment, const MoeLayer& layer, MoeKernelParameters& parameters) {
  if (!HasWeightOnlyExperts(deployment.formats)) return;
  const std::optional<StoredProducts>& stored = deployment.engine.stored_products;
  if (!stored || !stored->per_clock) return;
  const Biases biases = deployment.model.biases;
  parameters.pass_bytes = stored->pass_bytes;
  parameters.biases = biases == Biases::kMlp || biases == Biases::kAll ? 1 : 0;
  GemmKernelParameters& product = parameters.product;
  SetStored(deployment, layer.tokens <= Ratio(stored->vector_tokens), product);
  product.stored_tile = Figure("Rows of a tile", min(product.stored_tile, layer.tokens),
                               "one for each token of the pass, up to the largest");
}

KernelTime TimeWith(const Deployment& deployment, const MoeLayer& layer, MoeKernelParameters parameters) {
  parameters.launch = FixedTime(deployment, layer.tokens);
  parameters.engine_gemm_efficiency = deployment.expert_gemm_efficiency;
  parameters.engine_bandwidth_efficiency = deployment.expert_bandwidth_efficiency;
  return TimeOf(layer, deployment.device, parameters);
}

// The routed experts of a layer, without the exchange of tokens. Engines with several libraries choose by size.
KernelTime TimeExperts(const Deployment& deployment, const RoutedRows& rows) {
  const MoeLayer layer = LayerOf(deployment, rows);
  MoeKernelParameters parameters = ServingKernelParameters(layer, deployment.device);
  SetWeightOnly(deployment, layer, parameters);
  if (!deployment.visits_held_experts) parameters.expert = {};
  const KernelTime common = TimeWith(deployment, layer, parameters);
  MoeLayer own = layer;
  own.library = deployment.engine.kernels.expert_library;
  if (deployment.model.moe->block_scales) own.product.scaling = Scaling::kBlock;
  if (HasWeightOnlyExperts(deployment.formats) || !HasOwnKernels(own, deployment.device)) return common;
  KernelTime other = TimeWith(deployment, own, ServingKernelParameters(own, deployment.device));
  const Seconds faster = Figure("Routed experts", min(common.time, other.time), "by the faster of two libraries");
  KernelTime chosen = other.time < common.time ? other : common;
  chosen.time = faster;
  return chosen;
}

}  // namespace

bool HasFourBitExperts(const Deployment& deployment) {
  const Precision weights = deployment.formats.mlp_weights;
  return IsFourBitFloat(weights) && BytesPerElement(deployment.formats.activations) < 2 &&
         Supports(deployment.device, weights);
}

RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase) {
  if (deployment.mapping.attention_dp <= 1) return {TimeExperts(deployment, {rows, rows}), {}};
  const Ratio tokens = AllTokens(deployment, rows, phase);
  const auto with = [&](const ExpertTraffic& traffic) {
    return RoutedExperts{TimeExperts(deployment, {tokens, traffic.held_tokens}), traffic};
  };
  if (deployment.network.expert_exchange != nullptr) return with(SendTokens(deployment, rows, phase));
  // Evaluated one after the other: both are logged, and the order must be the same under every compiler.
  const RoutedExperts gathered = with(GatherTokens(deployment, rows, phase)),
                      sent = with(SendTokens(deployment, rows, phase));
  const auto total = [](const RoutedExperts& one) { return one.traffic.kernel.time + one.experts.time; };
  return total(gathered) <= total(sent) ? gathered : sent;
}

namespace {

// A routed expert of a layer on one device: its weights with biases, and the width of its rows.
struct RoutedExpert {
  Ratio elements = 0, biases = 0, width = 0;
};
RoutedExpert RoutedExpertOf(const Deployment& deployment) {
  const Model& model = deployment.model;
  return {ElementsOf(deployment.shapes.expert_mlp).expert, ExpertBiases(model, deployment.shapes.widths),
          RoutedWidth(model)};
}

Bytes WeightsOf(const Deployment& deployment, const RoutedExpert& expert) {
  return Figure("Weights of an expert", expert.elements * deployment.formats.sizes.mlp_weights);
}

// Weights of a layer's experts that get at least one row in a pass of `rows` tokens, counted as for device kernels.
Bytes HitWeights(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  MoeLayer layer;
  layer.experts = deployment.shapes.experts;
  layer.top_k = Ratio(deployment.model.moe->top_k);
  const Ratio hit =
      ExpertsHit(layer, Figure("Rows of the experts", rows * layer.top_k, "a token counts once per expert"),
                 deployment.device.architecture->experts.routing_preference);
  return Figure("Weights of the experts that get a row", hit * WeightsOf(deployment, expert));
}

BytesPerSecond HostRate(const Deployment& deployment) {
  return RateOfCopies(deployment.device.host.bandwidth, deployment.engine.communication);
}

// A layer's experts on the processor, which reads their weights from host memory; their tokens cross the host link.
Seconds OnProcessor(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  const HostExperts& host = *deployment.load.host_experts;
  const HostProducts& engine = *deployment.engine.host_products;
  const Seconds crossing = Figure("Tokens over the host link", 8 * kB * rows * expert.width / HostRate(deployment),
                                  "there and back, in fp32");
  const Seconds reading = Figure(
      "Time to read the weights",
      HitWeights(deployment, expert, rows) / (engine.bandwidth_efficiency * host.memory_bandwidth), "in host memory");
  const Seconds computing =
      Figure("Compute time of the processor",
             2 * kFlop * rows * Ratio(deployment.model.moe->top_k) * expert.elements / host.processor);
  return Figure("Experts by the processor", engine.overhead + max(reading, computing) + crossing,
                "while the device waits", "llama.cpp, ggml_backend_sched: one part of the graph after the other");
}

// A layer's experts, copied to the device for this pass.
Seconds Copied(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  return Figure("Experts' weights from host memory", HitWeights(deployment, expert, rows) / HostRate(deployment),
                "of those that get a row; nothing hides the copy", "llama.cpp pull request 15346");
}

}  // namespace

Ratio HostLayers(const Deployment& deployment) {
  return Figure("Layers with experts in host memory",
                min(Ratio(deployment.load.host_experts->layers), deployment.layers.moe),
                "at most those that have experts");
}

Bytes HostWeights(const Deployment& deployment) {
  const RoutedExpert expert = RoutedExpertOf(deployment);
  return Figure(
      "Experts' weights in host memory",
      HostLayers(deployment) * deployment.shapes.experts * (WeightsOf(deployment, expert) + expert.biases * (2 * kB)),
      "with their biases, in 16 bit");
}

Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view name,
                        OperatorBreakdown& operators) {
  constexpr std::string_view kTitle = "Routed experts of a layer",
                             kNote = "mean over layers with experts on the device and in host memory";
  const Ratio layers = deployment.layers.moe, host_layers = HostLayers(deployment),
              device_from(deployment.engine.host_products->device_from);
  const RoutedExpert expert = RoutedExpertOf(deployment);
  const bool copies = rows >= device_from;
  const Seconds time = copies ? Copied(deployment, expert, rows) : OnProcessor(deployment, expert, rows);
  const KernelTime host = NetworkTime(  // the device's own rates do not matter
      Procedure("Experts in host memory", time, {{time, 1}, InSteps(rows), InSteps(device_from)},
                "the device computes those of many tokens"));
  if (copies) {
    operators.Add(name, on_device, layers);
    operators.Add(kExpertsFromHost, host, host_layers);
    return Figure(kTitle, on_device.time + host_layers / layers * host.time, kNote);
  }
  const Ratio device_layers = Figure("Layers with experts on the device", layers - host_layers);
  if (device_layers > 0) operators.Add(name, on_device, device_layers);
  operators.Add(kExpertsOnHost, host, host_layers);
  return Figure(kTitle, (device_layers * on_device.time + host_layers * host.time) / layers, kNote);
}

}  // namespace slipstick
