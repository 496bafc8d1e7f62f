#include "core/serving/layer_time.h"

#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/serving/exchange.h"

namespace slipstick {
namespace {

// Experts in four bit stream better than matrix products: 0.95 of the bandwidth on B200, where products reach 0.72.
constexpr double kFourBitStream = 1.3;
constexpr double kElementLaunch = 0.7;  // of a matrix product's fixed cost

KernelTime Product(const Deployment& d, double rows, double outputs, double inputs, Precision activations, Precision weights,
                   std::string_view name, Trace& trace) {
  const Trace::Scope scope(trace, name);
  Gemm gemm;
  gemm.m = rows;
  gemm.n = outputs;
  gemm.k = inputs;
  gemm.precision = activations;
  gemm.weights = weights;
  gemm.quantise = BytesPerElement(activations) < 2;
  return TimeOf(gemm, d.device, ServingRegime(gemm, d.device), trace);
}

// Data between kernels: what the last cache keeps is read from there.
Seconds ElementTime(const Deployment& d, Bytes bytes) {
  if (!(bytes > Bytes{})) return {};
  const double missed = bytes / (bytes + 0.5 * LastCache(d.device));
  return bytes * missed / (d.device.memory.bandwidth * d.engine.element_stream) + bytes * (1 - missed) / CacheRate(d.device);
}

struct Adder {
  Parts& parts;
  double layers;
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    parts.Add(name, kernel, layers);
    return kernel.time;
  }
};

Seconds LatentProjections(const Deployment& d, double rows, Phase phase, const Adder& add, Trace& trace) {
  const Mla& mla = *d.model.mla;
  const auto q_rank = static_cast<double>(mla.q_lora_rank), kv_rank = static_cast<double>(mla.kv_lora_rank);
  const auto nope = static_cast<double>(mla.nope_head_dim), rope = static_cast<double>(mla.rope_head_dim);
  const auto value = static_cast<double>(mla.value_head_dim);
  const double h = d.hidden, heads = d.heads;
  const Precision a = d.attention_activations, w = d.attention_weights;
  Seconds time = add("compress", Product(d, rows, q_rank + kv_rank + rope, h, a, w, "compress", trace));
  time += add("query", Product(d, rows, heads * (nope + rope), q_rank > 0 ? q_rank : h, a, w, "query", trace));
  time += add("attention output", Product(d, rows, h, heads * value, a, w, "output", trace));
  KernelTime norms;
  norms.bytes = 4 * kB * rows * (q_rank + kv_rank);
  norms.time = 2 * kElementLaunch * *d.device.efficiency.launch + ElementTime(d, norms.bytes);
  norms.bound = Bound::kLatency;
  time += add("latent norms", norms);
  if (phase == Phase::kPrefill) {
    time += add("keys and values", Product(d, rows, heads * (nope + value), kv_rank, a, w, "expand", trace));
    return time;
  }
  // Decode keeps the latent: keys' and values' expansion is absorbed into two batched products, a head each.
  for (const bool keys : {true, false}) {
    const double n = keys ? kv_rank : value, k = keys ? nope : kv_rank;
    KernelTime absorbed;
    absorbed.flops = 2 * kFlop * rows * heads * n * k;
    absorbed.bytes = (heads * n * k + rows * heads * (n + k)) * 2.0 * kB;
    absorbed.compute = absorbed.flops / (0.6 * PeakRate(d.device, Precision::kBf16));
    absorbed.memory = absorbed.bytes / (d.device.memory.bandwidth * *d.device.efficiency.stream);
    absorbed.time = *d.device.efficiency.launch + max(absorbed.compute, absorbed.memory);
    absorbed.bound = absorbed.compute > absorbed.memory ? Bound::kCompute : Bound::kMemory;
    time += add(keys ? "absorbed keys" : "absorbed values", absorbed);
  }
  return time;
}

KernelTime Experts(const Deployment& d, double rows, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Moe& moe = *d.model.moe;
  MoeLayer layer;
  layer.tokens = rows * d.attention_dp;
  layer.experts = static_cast<double>(moe.experts);
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = d.hidden;
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.tp = d.expert_ranks;
  layer.ep = d.ep;
  // Four-bit weights with narrow activations run on the four-bit units where there are any.
  const bool four_bit = IsFourBitFloat(d.mlp_weights) && BytesPerElement(d.activations) < 2 && Supports(d.device, d.mlp_weights);
  layer.precision = four_bit ? d.mlp_weights : d.activations;
  layer.weights = d.mlp_weights;
  layer.imbalance = d.ep > 1 ? moe.imbalance : 1;
  MoeRegime regime = ServingRegime(layer, d.device);
  layer.scaling = Scaling::kBlock;
  regime.move_share = ServingRegime(layer, d.device).move_share;  // scales of blocks travel with the tokens
  layer.scaling = Scaling::kTensor;
  regime.launch = d.engine.experts;
  regime.product.matrix_share *= d.engine.expert_matrix;
  if (four_bit) regime.weight_factor = 1;
  regime.stream_factor *= four_bit ? kFourBitStream : d.expert_stream;
  return TimeOf(layer, d.device, regime, trace);
}

}  // namespace

LayerTime TimeLayer(const Deployment& d, double rows, Phase phase, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "layer");
  const Engine& engine = d.engine;
  const double h = d.hidden, dense = d.layers - d.moe_layers;
  const Adder every{parts, d.layers}, some{parts, dense}, moe{parts, d.moe_layers};
  const Precision a = d.attention_activations, w = d.attention_weights;
  LayerTime layer;
  if (d.model.mla) {
    layer.projections = LatentProjections(d, rows, phase, every, trace);
  } else {
    layer.projections = every("query, key, value", Product(d, rows, (d.heads + 2 * d.kv_heads) * d.head_dim, h, a, w, "qkv", trace));
    layer.projections += every("attention output", Product(d, rows, h, d.heads * d.head_dim, a, w, "output", trace));
  }
  if (dense > 0) {
    layer.mlp = some("MLP in", Product(d, rows, (d.mlp_matrices - 1) * d.ffn, h, d.activations, d.mlp_weights, "mlp_in", trace));
    layer.mlp += some("MLP out", Product(d, rows, h, d.ffn, d.activations, d.mlp_weights, "mlp_out", trace));
  }
  if (d.model.moe) {
    const Moe& experts = *d.model.moe;
    layer.experts =
        moe("router", Product(d, rows, static_cast<double>(experts.experts), h, Precision::kBf16, Precision::kBf16, "router", trace));
    layer.experts += moe("experts", Experts(d, rows, trace));
    if (experts.shared_ffn > 0) {
      const double ffn = ceil(static_cast<double>(experts.shared_ffn) / d.tp);
      layer.experts +=
          moe("shared experts in", Product(d, rows, (d.mlp_matrices - 1) * ffn, h, d.activations, d.mlp_weights, "shared_in", trace));
      layer.experts += moe("shared experts out", Product(d, rows, h, ffn, d.activations, d.mlp_weights, "shared_out", trace));
    }
    layer.experts += moe("expert exchange", ExpertExchange(d, rows, trace));
  }
  // Norms with the residual, twice, and the activation; where experts stand in its place their kernels do that.
  const double inner = d.ffn * dense / d.layers;
  KernelTime elements;
  elements.time = engine.element_kernels * kElementLaunch * *d.device.efficiency.launch + 2 * ElementTime(d, 6 * kB * rows * h) +
                  ElementTime(d, (d.model.gated ? 6 : 4) * kB * rows * inner) + ElementTime(d, engine.element_bytes * kB * rows * h / d.tp);
  elements.bytes = 1 * kB * rows * (12 * h + (d.model.gated ? 6 : 4) * inner + engine.element_bytes * h / d.tp);
  elements.bound = Bound::kMemory;
  layer.elements = every("norms, activation, residual", elements);
  const Exchange reduction = AllReduce(d, 2 * kB * rows * h, phase == Phase::kDecode && !d.graphs, trace);
  const double reductions = d.model.parallel_attention ? 1 : 2;
  parts.Add("all-reduce", reduction.kernel, reductions * d.layers);
  layer.reductions = reductions * reduction.kernel.time;
  KernelTime gaps;
  gaps.time =
      (phase == Phase::kDecode ? d.decode_gap : d.prefill_gap) * (4 + engine.element_kernels + (reduction.launched_apart ? reductions : 0));
  gaps.bound = Bound::kLatency;
  layer.gaps = every("launch gaps", gaps);
  return layer;
}

Seconds TimeHead(const Deployment& d, double rows, bool waits_for_host, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "head");
  const KernelTime product = Product(d, rows, d.vocab, d.hidden, Precision::kBf16, d.head_weights, "product", trace);
  KernelTime choice;
  choice.bytes = 8 * kB * rows * d.vocab;
  choice.memory = choice.bytes / (0.6 * d.device.memory.bandwidth);
  choice.time = choice.memory + AllReduce(d, 8 * kB * rows, waits_for_host, trace).kernel.time;
  choice.bound = Bound::kMemory;
  parts.Add("output matrix", product, 1);
  parts.Add("choice of a token", choice, 1);
  const Seconds output_matrix = product.time, token_choice = choice.time;
  FIGURE(trace, head, output_matrix + token_choice, (Note{"Output matrix and choice of a token", "16 bit; logits read twice in fp32"}),
         output_matrix, token_choice);
  return head;
}

}  // namespace slipstick
