#include "core/serving/layer_time.h"

#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/serving/exchange.h"
#include "core/serving/memo.h"

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
  const auto time = [&] { return TimeOf(gemm, d.device, ServingRegime(gemm, d.device), trace); };
  return d.memo == nullptr || trace.on() ? time() : d.memo->Product(gemm, time);
}

// Data between kernels: what the last cache keeps is read from there.
Seconds ElementTime(const Deployment& d, Bytes bytes) {
  if (!(bytes > Bytes{})) return {};
  const double missed = bytes / (bytes + 0.5 * LastCache(d.device));
  return bytes * missed / (d.device.memory.bandwidth * d.engine.element_stream) + bytes * (1 - missed) / CacheRate(d.device);
}

// Adds an operator that `layers` layers have.
struct Adder {
  Parts& parts;
  double layers;
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    parts.Add(name, kernel, layers);
    return kernel.time;
  }
};

KernelTime LatentNorms(const Deployment& d, double rows, double ranks) {
  KernelTime norms;
  norms.bytes = 4 * kB * rows * ranks;
  norms.time = 2 * kElementLaunch * *d.device.efficiency.launch + ElementTime(d, norms.bytes);
  norms.bound = Bound::kLatency;
  return norms;
}

// A product a head of `rows` tokens with n outputs and k inputs: what is left of an expansion that is absorbed.
KernelTime AbsorbedProduct(const Deployment& d, double rows, double n, double k) {
  KernelTime absorbed;
  absorbed.flops = 2 * kFlop * rows * d.heads * n * k;
  absorbed.bytes = (d.heads * n * k + rows * d.heads * (n + k)) * 2.0 * kB;
  absorbed.compute = absorbed.flops / (0.6 * PeakRate(d.device, Precision::kBf16));
  absorbed.memory = absorbed.bytes / (d.device.memory.bandwidth * *d.device.efficiency.stream);
  absorbed.time = *d.device.efficiency.launch + max(absorbed.compute, absorbed.memory);
  absorbed.bound = absorbed.compute > absorbed.memory ? Bound::kCompute : Bound::kMemory;
  return absorbed;
}

Seconds LatentProjections(const Deployment& d, double rows, Phase phase, const Adder& add, Trace& trace) {
  const Mla& mla = *d.model.mla;
  const auto q_rank = static_cast<double>(mla.q_lora_rank), kv_rank = static_cast<double>(mla.kv_lora_rank);
  const auto nope = static_cast<double>(mla.nope_head_dim), rope = static_cast<double>(mla.rope_head_dim);
  const auto value = static_cast<double>(mla.value_head_dim);
  const double h = d.hidden, heads = d.heads;
  const Precision a = d.attention_activations, w = d.attention_weights;
  Seconds time = add("compress", Product(d, rows, q_rank + kv_rank + rope, h, a, w, "compress", trace));
  FIGURE(trace, compress, time, (Note{"Compression of queries, keys and values", ""}), time);
  time = add("query", Product(d, rows, heads * (nope + rope), q_rank > 0 ? q_rank : h, a, w, "query", trace));
  FIGURE(trace, query, time, (Note{"Expansion of queries", ""}), time);
  time = add("attention output", Product(d, rows, h, heads * value, a, w, "output", trace));
  FIGURE(trace, attention_output, time, (Note{"Attention's output matrix", ""}), time);
  const Seconds latent_norms = add("latent norms", LatentNorms(d, rows, q_rank + kv_rank));
  Seconds expansion;
  if (phase == Phase::kPrefill) {
    expansion = add("keys and values", Product(d, rows, heads * (nope + value), kv_rank, a, w, "expand", trace));
  } else {
    // Decode keeps the latent: the expansions of keys and values are absorbed into two batched products.
    expansion = add("absorbed keys", AbsorbedProduct(d, rows, kv_rank, nope));
    expansion += add("absorbed values", AbsorbedProduct(d, rows, value, kv_rank));
  }
  FIGURE(trace, projections, compress + query + attention_output + latent_norms + expansion,
         (Note{"Projections of latent attention", "prefill expands keys and values, decode absorbs that into the queries and outputs",
               "DeepSeek-V2, arXiv 2405.04434"}),
         compress, query, attention_output, latent_norms, expansion);
  return projections;
}

Seconds Projections(const Deployment& d, double rows, Phase phase, const Adder& add, Trace& trace) {
  if (d.model.mla) return LatentProjections(d, rows, phase, add, trace);
  const Precision a = d.attention_activations, w = d.attention_weights;
  const double query_heads = (d.model.attention_gate ? 2 : 1) * d.heads;
  Seconds time = add("query, key, value", Product(d, rows, (query_heads + 2 * d.kv_heads) * d.head_dim, d.hidden, a, w, "qkv", trace));
  FIGURE(trace, query_key_value, time, (Note{"Query, key and value matrices", ""}), time);
  time = add("attention output", Product(d, rows, d.hidden, d.heads * d.head_dim, a, w, "output", trace));
  FIGURE(trace, attention_output, time, (Note{"Attention's output matrix", ""}), time);
  FIGURE(trace, projections, query_key_value + attention_output, (Note{"Projections of attention", ""}), query_key_value, attention_output);
  return projections;
}

// Matrices of a layer with a recurrence in place of attention.
Seconds RecurrentProjections(const Deployment& d, double rows, const Adder& add, Trace& trace) {
  const LinearLayers& linear = *d.model.linear;
  const Precision a = d.attention_activations, w = d.attention_weights;
  Seconds time = add("recurrent layer in", Product(d, rows, d.linear_columns, d.hidden, a, w, "recurrent_in", trace));
  FIGURE(trace, recurrent_in, time, (Note{"Matrix into the recurrence", "values, gates, keys, queries and decays together"}), time);
  time = add("recurrent layer out", Product(d, rows, d.hidden, d.linear_inner, a, w, "recurrent_out", trace));
  FIGURE(trace, recurrent_out, time, (Note{"Matrix out of the recurrence", ""}), time);
  Seconds steps;
  if (linear.kind == LinearKind::kMamba) {
    const auto rank = static_cast<double>(linear.step_rank), state = static_cast<double>(linear.state);
    steps = add("steps and states in", Product(d, rows, rank + 2 * state, d.linear_inner, a, w, "states", trace));
    if (rank > 0) steps += add("steps", Product(d, rows, d.linear_inner, rank, a, w, "steps", trace));
  } else if (linear.kind == LinearKind::kKimiDelta) {
    const auto rank = static_cast<double>(linear.head_dim);
    steps = 2 * Product(d, rows, d.linear_inner, rank, a, w, "steps", trace).time;
    steps =
        add("decays and gates", {steps, {}, {}, Bound::kMemory, 4 * kFlop * rows * d.linear_inner * rank, 4 * kB * d.linear_inner * rank});
  }
  FIGURE(trace, recurrent, recurrent_in + recurrent_out + steps, (Note{"Matrices of a recurrent layer", ""}), recurrent_in, recurrent_out,
         steps);
  return recurrent;
}

Seconds DenseMlp(const Deployment& d, double rows, const Adder& add, Trace& trace) {
  Seconds time = add("MLP in", Product(d, rows, (d.mlp_matrices - 1) * d.ffn, d.hidden, d.activations, d.mlp_weights, "mlp_in", trace));
  FIGURE(trace, mlp_in, time, (Note{"First matrix of the MLP", "with its gate, where there is one"}), time);
  time = add("MLP out", Product(d, rows, d.hidden, d.ffn, d.activations, d.mlp_weights, "mlp_out", trace));
  FIGURE(trace, mlp_out, time, (Note{"Second matrix of the MLP", ""}), time);
  FIGURE(trace, mlp, mlp_in + mlp_out, (Note{"Dense MLP", ""}), mlp_in, mlp_out);
  return mlp;
}

KernelTime Experts(const Deployment& d, double rows, double held, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Moe& moe = *d.model.moe;
  MoeLayer layer;
  layer.tokens = rows * d.attention_dp;
  layer.held_tokens = held;
  layer.experts = d.experts;
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = d.hidden;
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.tp = d.expert_ranks;
  layer.ep = d.ep;
  // Four-bit weights with narrow activations run on the four-bit units where there are any.
  const bool four_bit = IsFourBitFloat(d.mlp_weights) && BytesPerElement(d.activations) < 2 && Supports(d.device, d.mlp_weights);
  layer.precision = four_bit ? d.mlp_weights : d.activations;
  layer.weights = d.mlp_weights;
  layer.imbalance = ImbalanceOf(d, trace);
  MoeRegime regime = ServingRegime(layer, d.device);
  layer.scaling = Scaling::kBlock;
  regime.move_share = ServingRegime(layer, d.device).move_share;  // scales of blocks travel with the tokens
  layer.scaling = Scaling::kTensor;
  if (BytesPerElement(d.mlp_weights) < 1 && BytesPerElement(d.activations) >= 2) {
    // Weight-only experts run as weight-only products do: the same rate, latency and stream.
    regime.product.matrix_share = min(1.0, 1.065 * *d.device.efficiency.matrix);
    regime.product.step_latency = 25 * kNs;
    regime.weight_factor = 1.1;
    regime.move_share = 0.55;
  }
  regime.launch = d.engine.experts;
  regime.product.matrix_share *= d.expert_matrix;
  if (four_bit) regime.weight_factor = 1;
  regime.stream_factor *= four_bit ? kFourBitStream : d.expert_stream;
  return TimeOf(layer, d.device, regime, trace);
}

// A layer's routed experts and how its tokens reach them: a library's collectives, whichever are faster with the experts' own
// work, or the engine's kernels.
struct RoutedExperts {
  KernelTime experts;
  ExpertTraffic traffic;
};
RoutedExperts Routed(const Deployment& d, double rows, Phase phase, Trace& trace) {
  if (d.attention_dp <= 1) return {Experts(d, rows, rows, trace), {}};
  Trace off = Trace::Off();
  const auto total = [&](const ExpertTraffic& traffic) { return traffic.kernel.time + Experts(d, rows, traffic.held, off).time; };
  const bool gathers = d.exchange == nullptr && total(GatherTokens(d, rows, off)) <= total(SendTokens(d, rows, phase, off));
  const ExpertTraffic traffic = gathers ? GatherTokens(d, rows, trace) : SendTokens(d, rows, phase, trace);
  return {Experts(d, rows, traffic.held, trace), traffic};
}

void ExpertMlp(const Deployment& d, double rows, Phase phase, const Adder& add, LayerCost& layer, Trace& trace) {
  const Moe& moe = *d.model.moe;
  const Precision wide = Precision::kBf16;
  Seconds time = add("router", Product(d, rows, static_cast<double>(moe.experts), d.hidden, wide, wide, "router", trace));
  FIGURE(trace, router, time, (Note{"Router", "kept in 16 bit"}), time);
  const RoutedExperts own = Routed(d, rows, phase, trace);
  time = add("experts", own.experts);
  FIGURE(trace, routed, time, (Note{"Routed experts", ""}), time);
  Seconds shared_in, shared_out;
  if (moe.shared_ffn > 0) {
    const double ffn = ceil(static_cast<double>(moe.shared_ffn) / d.tp);
    const double inner = (d.mlp_matrices - 1) * ffn;
    shared_in = add("shared experts in", Product(d, rows, inner, d.hidden, d.activations, d.mlp_weights, "shared_in", trace));
    shared_out = add("shared experts out", Product(d, rows, d.hidden, ffn, d.activations, d.mlp_weights, "shared_out", trace));
  }
  FIGURE(trace, experts, router + routed + shared_in + shared_out, (Note{"Experts", "without the exchange of their tokens"}), router,
         routed, shared_in, shared_out);
  layer.experts = experts;
  layer.dispatch = own.traffic.dispatch;
  layer.combine = own.traffic.kernel.time - own.traffic.dispatch;
}

// Norms with the residual and the activation, in kernels of their own; experts' kernels contain theirs.
KernelTime Elements(const Deployment& d, double rows, double norms, double kernels, Trace& trace) {
  const double hidden = d.hidden, inner = d.ffn * d.dense_layers / d.layers, tp = d.tp;
  const double activation_bytes = d.model.gated ? 6 : 4, further_bytes = d.engine.element_bytes;
  const Bytes one = 1 * kB;
  const Seconds launch = *d.device.efficiency.launch;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const double launch_share = kElementLaunch;
  const Seconds norm_time = ElementTime(d, 6 * one * rows * hidden),
                activation_time = ElementTime(d, activation_bytes * one * rows * inner);
  const Seconds further_time = ElementTime(d, further_bytes * one * rows * hidden / tp);
  FIGURE(trace, elements, kernels * launch_share * launch + norms * norm_time + activation_time + further_time,
         (Note{"Norms, residual and activation",
               "a fixed cost a kernel, and data at the engine's share of the bandwidth where the last cache "
               "does not keep it"}),
         kernels, launch_share, launch, norms, norm_time, activation_time, further_time);
  KernelTime kernel;
  kernel.time = elements;
  kernel.bytes = one * rows * (6 * norms * hidden + activation_bytes * inner + further_bytes * hidden / tp);
  kernel.bound = kernels * launch_share * launch > elements / 2 ? Bound::kLatency : Bound::kMemory;
  return kernel;
}

}  // namespace

LayerCost TimeLayer(const Deployment& d, double rows, Phase phase, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "layer");
  const double dense = d.dense_layers;
  const Adder every{parts, d.layers};
  LayerCost layer;
  if (d.attention_layers > 0) layer.projections = Projections(d, rows, phase, Adder{parts, d.attention_layers}, trace);
  if (d.linear_layers > 0) layer.recurrent = RecurrentProjections(d, rows, Adder{parts, d.linear_layers}, trace);
  if (dense > 0) layer.mlp = DenseMlp(d, rows, Adder{parts, dense}, trace);
  if (d.model.moe) ExpertMlp(d, rows, phase, Adder{parts, d.moe_layers}, layer, trace);
  // Attention and MLP side by side share a norm, a residual addition and an all-reduce.
  const double halves = d.model.parallel_attention ? 1 : 2;
  const double element_kernels = max(0.0, d.engine.element_kernels - (2 - halves));
  layer.elements = every("norms, activation, residual", Elements(d, rows, halves, element_kernels, trace));

  const ExchangeCost reduction = AllReduce(d, 2 * kB * rows * d.hidden, phase == Phase::kDecode && !d.graphs, trace);
  parts.Add("all-reduce", reduction.kernel, halves * d.layers);
  const Seconds reduction_time = reduction.kernel.time;
  FIGURE(trace, reductions, halves * reduction_time, (Note{"All-reduces of a layer", "after attention and after the MLP"}), halves,
         reduction_time);
  layer.reductions = reductions;

  const Seconds gap = phase == Phase::kDecode ? d.decode_gap : d.prefill_gap;
  const double own_kernels = 4 + element_kernels, library_kernels = reduction.launched_apart ? halves : 0;
  FIGURE(trace, gaps, gap * (own_kernels + library_kernels),
         (Note{"Gaps between kernels", "that are launched one by one; none inside a graph"}), gap, own_kernels, library_kernels);
  // Products and attention of a layer; its experts bring routing, permutation, scales and combination, latent attention its
  // compressions, norms and rotary parts; activations in 8 or 4 bits are scaled before each product.
  const double moe_share = d.moe_layers / d.layers, shared = d.model.moe && d.model.moe->shared_ffn > 0 ? 1 : 0;
  const double scaled_attention = BytesPerElement(d.attention_activations) < 2 ? (d.model.mla ? 4 : 2) : 0;
  const double scaled_mlp = BytesPerElement(d.activations) < 2 ? 2 * (1 - moe_share + moe_share * shared) : 0;
  layer.operations =
      5 + element_kernels + (d.tp > 1 ? halves : 0) + moe_share * (6 + 3 * shared) + (d.model.mla ? 5 : 0) + scaled_attention + scaled_mlp;
  KernelTime idle;
  idle.time = gaps;
  idle.bound = Bound::kLatency;
  layer.gaps = every("launch gaps", idle);
  return layer;
}

Seconds TimeHead(const Deployment& d, double rows, bool waits_for_host, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "head");
  const KernelTime product = Product(d, rows, d.vocab, d.hidden, Precision::kBf16, d.head_weights, "product", trace);
  const Seconds time = product.time;
  FIGURE(trace, output_matrix, time, (Note{"Output matrix", "kept in 16 bit"}), time);
  const double vocabulary = d.vocab;
  const Bytes logit = 8 * kB;
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const Seconds gathered = AllReduce(d, logit * rows, waits_for_host, trace).kernel.time;
  FIGURE(trace, token_choice, logit * rows * vocabulary / (0.6 * bandwidth) + gathered,
         (Note{"Choice of a token", "logits are written and read in fp32; ranks exchange their best"}), logit, rows, vocabulary, bandwidth,
         gathered);
  KernelTime choice;
  choice.bytes = logit * rows * vocabulary;
  choice.memory = choice.time = token_choice;
  choice.bound = Bound::kMemory;
  parts.Add("output matrix", product, 1);
  parts.Add("choice of a token", choice, 1);
  FIGURE(trace, head, output_matrix + token_choice, (Note{"Output matrix and choice of a token", ""}), output_matrix, token_choice);
  return head;
}

}  // namespace slipstick
