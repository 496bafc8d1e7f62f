#include "core/engine_step/compiled_graph.h"

#include <string>

#include "core/engine_step/exchange.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/served_product.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

// Weight elements per layer (mean over the layers, whole model, heads padded) that each token computes with and that a
// pass of `rows` tokens reads.
struct Matrices {
  double computed = 0, read = 0;
};
LayerWidths PaddedWidths(const Deployment& deployment, Trace& trace) {
  LayerWidths whole = WholeWidths(deployment.model, trace);
  whole.heads = deployment.shapes.padded_heads;
  whole.kv_heads = deployment.shapes.padded_kv_heads;
  trace.Alias("rank_heads", whole.heads, "padded_heads");
  trace.Alias("rank_kv_heads", whole.kv_heads, "padded_kv_heads");
  return whole;
}

// Matrices that every token computes with: mean over the layers.
double CommonMatrices(const Deployment& deployment, const LayerWidths& whole, Trace& trace) {
  const Model& model = deployment.model;
  const double attention_layers = deployment.layers.attention, dense_layers = deployment.layers.dense,
               layers = deployment.layers.total;
  if (model.SharesKv()) {
    const double all_matrices = CountParameters(model, trace).matrices;
    FIGURE(trace, common, all_matrices / layers, (Note{"Weights of attention and MLP", "mean over the layers"}),
           all_matrices, layers);
    return common;
  }
  const auto elements = [&](const MatrixProducts& products, std::string_view symbol) {
    return ElementsOf(products, model, whole, symbol, trace).all_tokens;
  };
  const double attention_matrices = elements(MixerProducts(model, Mixer::kFullAttention, whole), "attention_matrices");
  const double mlp_matrices = elements(FeedForwardProducts(model, FeedForward::kDense, whole), "mlp_matrices");
  FIGURE(trace, attention_and_mlp,
         attention_layers / layers * attention_matrices + dense_layers / layers * mlp_matrices,
         (Note{"Weights of attention and dense MLP", "mean over the layers"}), attention_layers, layers,
         attention_matrices, dense_layers, mlp_matrices);
  if (!model.linear_attention) {
    trace.Alias("common", attention_and_mlp, "attention_and_mlp");
    return attention_and_mlp;
  }
  const double recurrent_matrices = elements(MixerProducts(model, Mixer::kRecurrence, whole), "recurrent_matrices");
  FIGURE(trace, common, attention_and_mlp + (1 - attention_layers / layers) * recurrent_matrices,
         (Note{"Weights of attention, recurrence and dense MLP", "mean over the layers"}), attention_and_mlp,
         attention_layers, layers, recurrent_matrices);
  return common;
}

Matrices MatricesOf(const Deployment& deployment, double rows, Trace& trace) {
  const Model& model = deployment.model;
  const Trace::Scope scope(trace, "matrices");
  const LayerWidths whole = PaddedWidths(deployment, trace);
  const double common = CommonMatrices(deployment, whole, trace);
  if (!model.moe) {
    trace.Alias("computed", common, "common");
    trace.Alias("read", common, "common");
    return {common, common};
  }
  const double moe_layers = deployment.layers.moe, layers = deployment.layers.total;
  const auto experts = static_cast<double>(model.moe->experts), top_k = static_cast<double>(model.moe->top_k);
  const auto [every_token, expert] =
      ElementsOf(FeedForwardProducts(model, FeedForward::kExperts, whole), model, whole, "every_token", trace);
  FIGURE(trace, outside_experts, common + moe_layers / layers * every_token,
         (Note{"Weights outside the routed experts", "mean over the layers"}), common, moe_layers, layers, every_token);
  FIGURE(trace, computed, outside_experts + moe_layers / layers * top_k * expert,
         (Note{"Weights that a token computes with", ""}), outside_experts, moe_layers, layers, top_k, expert);
  FIGURE(trace, read, outside_experts + moe_layers / layers * experts * (1 - pow(1 - top_k / experts, rows)) * expert,
         (Note{"Weights read", "experts that get any of the rows"}), outside_experts, moe_layers, layers, experts,
         top_k, rows, expert);
  return {computed, read};
}

// Names the engine's constants and the device's rates.
void BindGraph(const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return;
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const std::string path = "serving.engine.whole_layer.";
  trace.Input("matrix", engine.gemm_efficiency, path + "matrix");
  trace.Input("stream", engine.bandwidth_efficiency, path + "stream");
  trace.Input("cache_stream", engine.kv_cache_bandwidth_efficiency, path + "cache_stream");
  trace.Input("element_stream", engine.elementwise_bandwidth_efficiency, path + "element_stream");
  trace.Input("fixed", engine.layer_overhead, path + "layer");
  trace.Input("start", engine.all_reduce_overhead, path + "reduce");
  trace.Input("reduce_stream", engine.all_reduce_bandwidth_efficiency, path + "reduce_stream");
  trace.Input("power", engine.spill_exponent, path + "spill");
  trace.Input("on_chip", engine.on_chip_capacity, path + "on_chip");
  trace.Input("weight_size", ElementSize(deployment.formats.mlp_weights), "serving.precision.weights");
  trace.Input("kv_element", ElementSize(deployment.formats.kv_cache), "serving.precision.kv_cache");
  trace.Input("head_dim", deployment.shapes.head_dim, "model.head_dim");
}

FlopsPerSecond PeakAs(std::string_view symbol, const Device& device, Precision precision, Trace& trace) {
  const FlopsPerSecond rate = PeakRate(device, precision, trace);
  trace.Alias(symbol, rate, "peak_rate");
  return rate;
}

// Two all-reduces of a layer.
Seconds ReduceTime(const Deployment& deployment, double rows, OperatorBreakdown& operators, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const double group_devices = deployment.mapping.devices_per_group,
               reduce_stream = engine.all_reduce_bandwidth_efficiency;
  const Seconds start = engine.all_reduce_overhead;
  const Bytes residual_bytes = ResidualBytes(deployment.model, rows, "rows", trace);
  const BytesPerSecond link = deployment.network.link;
  BindLevelLink("link", link, group_devices, deployment, trace);
  FIGURE(trace, reduction,
         2 * (start + 2 * (group_devices - 1) / group_devices * residual_bytes / (reduce_stream * link)),
         (Note{"Two all-reduces per layer", ""}), start, group_devices, residual_bytes, reduce_stream, link);
  KernelTime kernel;
  kernel.time = reduction;
  kernel.bound = Bound::kNetwork;
  operators.Add("all-reduces", kernel, deployment.layers.total);
  return reduction;
}

// A layer without attention, as one operator.
KernelTime LayerOperator(const Deployment& deployment, double rows, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const Trace::Scope scope(trace, "layer");
  const double group_devices = deployment.mapping.devices_per_group, hidden = deployment.shapes.hidden;
  const Matrices matrices = MatricesOf(deployment, rows, trace);
  const double computed = matrices.computed, read = matrices.read;
  const Bytes weight_size = ElementSize(deployment.formats.mlp_weights), half = 2.0 * kB;
  const FlopsPerSecond peak = PeakAs("peak", deployment.device, deployment.formats.activations, trace);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double matrix = engine.gemm_efficiency, stream = engine.bandwidth_efficiency,
               element_stream = engine.elementwise_bandwidth_efficiency;
  const Seconds fixed = engine.layer_overhead;
  const double ffn = static_cast<double>(deployment.model.ffn), padded_heads = deployment.shapes.padded_heads,
               padded_kv_heads = deployment.shapes.padded_kv_heads, head_dim = deployment.shapes.head_dim;
  FIGURE(trace, width, 4 * hidden + 2 * ffn + (padded_heads + 2 * padded_kv_heads) * head_dim,
         (Note{"Activations per token of a layer", "elements"}), hidden, ffn, padded_heads, padded_kv_heads, head_dim);
  FIGURE(trace, flops, 2 * kFlop * rows * computed / group_devices, (Note{"FLOPs of a layer", "on one device"}), rows,
         computed, group_devices);
  FIGURE(trace, weight_bytes, read * weight_size / group_devices, (Note{"Weights of a layer", "on one device"}), read,
         weight_size, group_devices);
  FIGURE(trace, element_bytes, rows * width * half / group_devices, (Note{"Activations of a layer", "on one device"}),
         rows, width, half, group_devices);
  FIGURE(trace, bytes, weight_bytes + element_bytes, (Note{"Memory traffic of a layer", "on one device"}), weight_bytes,
         element_bytes);
  FIGURE(trace, compute_time, flops / (matrix * peak), (Note{"Compute per layer", ""}), flops, matrix, peak);
  FIGURE(trace, stream_time, weight_bytes / (stream * bandwidth), (Note{"Weights per layer", ""}), weight_bytes, stream,
         bandwidth);
  FIGURE(trace, element_time, element_bytes / (element_stream * bandwidth), (Note{"Activations per layer", ""}),
         element_bytes, element_stream, bandwidth);
  FIGURE(trace, layer_time, norm(compute_time, stream_time, 3) + element_time + fixed,
         (Note{"A layer as one operator", "compute and weights overlap; activations and the fixed overhead do not"}),
         compute_time, stream_time, element_time, fixed);
  const Bound bound = fixed > layer_time - fixed   ? Bound::kLatency
                      : compute_time > stream_time ? Bound::kCompute
                                                   : data.bound;
  return {layer_time, compute_time, stream_time + element_time, bound, flops, bytes};
}

KernelTime HeadOperator(const Deployment& deployment, double last_rows, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const Trace::Scope scope(trace, "head");
  BindWeightSize("head_size", deployment.formats.head_weights, deployment.formats.keeps_head, deployment, trace);
  const double group_devices = deployment.mapping.devices_per_group, hidden = deployment.shapes.hidden,
               vocab = static_cast<double>(deployment.model.vocab), matrix = engine.gemm_efficiency,
               stream = engine.bandwidth_efficiency;
  const Bytes head_size = ElementSize(deployment.formats.head_weights);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const FlopsPerSecond wide_peak = PeakAs("wide_peak", deployment.device, Precision::kBf16, trace);
  FIGURE(trace, flops, 2 * kFlop * last_rows * hidden * vocab / group_devices,
         (Note{"FLOPs of the LM head", "on one device"}), last_rows, hidden, vocab, group_devices);
  FIGURE(trace, bytes, hidden * vocab * head_size / group_devices, (Note{"Weights of the LM head", "on one device"}),
         hidden, vocab, head_size, group_devices);
  FIGURE(trace, head_compute, flops / (matrix * wide_peak), (Note{"Compute of the LM head", ""}), flops, matrix,
         wide_peak);
  FIGURE(trace, head_stream, bytes / (stream * bandwidth), (Note{"Time to read the weights of the LM head", ""}), bytes,
         stream, bandwidth);
  FIGURE(trace, head_time, norm(head_compute, head_stream, 3), (Note{"LM head", ""}), head_compute, head_stream);
  return {head_time, head_compute, head_stream, head_compute > head_stream ? Bound::kCompute : data.bound,
          flops,     bytes};
}

// Layers and LM head without attention, for `rows` tokens, `last_rows` of which go through the head.
Seconds LinearTime(const Deployment& deployment, double rows, double last_rows, OperatorBreakdown& operators,
                   Trace& trace) {
  BindGraph(deployment, trace);
  const KernelTime layer = LayerOperator(deployment, rows, trace);
  operators.Add("layer", layer, deployment.layers.total, "layers", trace);
  const bool reduces = deployment.mapping.devices_per_group > 1;
  const Seconds layer_time = layer.time,
                reduce_time = reduces ? ReduceTime(deployment, rows, operators, trace) : Seconds{};
  if (reduces) {
    trace.Alias("reduce_time", reduce_time, "reduction");
  } else {
    CONSTANTS(trace, "serving.compiled_graph", "nothing to reduce on a single device", reduce_time);
  }
  const KernelTime head = HeadOperator(deployment, last_rows, trace);
  operators.Add("LM head", head, 1, "", trace);
  const Seconds head_time = head.time;
  const double layers = deployment.layers.total;
  FIGURE(trace, linear_time, layers * (layer_time + reduce_time) + head_time,
         (Note{"Layers and LM head", "without attention"}), layers, layer_time, reduce_time, head_time);
  return linear_time;
}

double UnmaskedShare(double tokens, double cached, double keys, Trace& trace) {
  FIGURE(trace, unmasked, (cached + tokens / 2) / keys, (Note{"Share of the scores that the causal mask leaves", ""}),
         cached, tokens, keys);
  return unmasked;
}

// Slow-down where the residual stream does not fit on chip.
double SpillFactor(const Deployment& deployment, double rows, Trace& trace) {
  const Bytes on_chip = deployment.engine.compiled_graph->on_chip_capacity, half = 2.0 * kB;
  if (!(on_chip > Bytes{})) return 1;
  const double hidden = deployment.shapes.hidden, power = deployment.engine.compiled_graph->spill_exponent;
  FIGURE(trace, activations, rows * hidden * half, (Note{"Residual stream", "in 16 bit"}), rows, hidden, half);
  FIGURE(trace, spill, pow(max(1.0, activations / on_chip), power), (Note{"Slow-down by spilled activations", ""}),
         activations, on_chip, power);
  return spill;
}

// A graph of fixed shapes is compiled for the longest context of the load.
double LongestContext(const Deployment& deployment, const DecodePass& pass, Trace& trace) {
  const double mean_context = pass.context, grown = pass.grown;
  if (!deployment.engine.compiled_graph->fixed_shapes) return mean_context;
  trace.Alias("mean_context", mean_context, "context");
  FIGURE(trace, longest_context, mean_context + grown / 2,
         (Note{"Longest context of the load", "that the graph is compiled for"}), mean_context, grown);
  trace.Alias("context", longest_context, "longest_context");
  return longest_context;
}

// Elements of the KV cache per token and layer, all devices.
double CacheWidth(const Deployment& deployment, Trace& trace) {
  if (deployment.model.mla) {
    const auto kv_lora_rank = static_cast<double>(deployment.model.mla->kv_lora_rank),
               rope_head_dim = static_cast<double>(deployment.model.mla->rope_head_dim);
    const double group_devices = deployment.mapping.devices_per_group;
    FIGURE(trace, cache_width, (kv_lora_rank + rope_head_dim) * group_devices,
           (Note{"KV cache per token and layer", "on every device"}), kv_lora_rank, rope_head_dim, group_devices);
    return cache_width;
  }
  const double padded_kv_heads = deployment.shapes.padded_kv_heads, head_dim = deployment.shapes.head_dim;
  FIGURE(trace, cache_width, 2 * padded_kv_heads * head_dim, (Note{"KV cache per token and layer", "elements"}),
         padded_kv_heads, head_dim);
  return cache_width;
}

}  // namespace

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  PassCost step;
  const double sequences = pass.sequences, tokens = pass.tokens, cached = pass.cached;
  FIGURE(trace, keys, tokens + cached, (Note{"Keys of a prompt", "with those in the KV cache"}), tokens, cached);
  FIGURE(trace, rows, sequences * tokens, (Note{"Tokens of the pass", ""}), sequences, tokens);
  trace.Alias("last_rows", sequences, "sequences");
  const Seconds linear_time = LinearTime(deployment, rows, sequences, step.operators, trace);
  const double group_devices = deployment.mapping.devices_per_group, attention_layers = deployment.layers.attention,
               padded_heads = deployment.shapes.padded_heads, head_dim = deployment.shapes.head_dim,
               matrix = engine.gemm_efficiency;
  const double unmasked = engine.skips_masked_scores ? UnmaskedShare(tokens, cached, keys, trace) : 1;
  if (!engine.skips_masked_scores) trace.Input("unmasked", unmasked, "serving.engine.whole_layer.causal");
  const FlopsPerSecond peak = PeakAs("peak", deployment.device, Precision::kBf16, trace);
  FIGURE(trace, flops, 4 * kFlop * unmasked * sequences * padded_heads * tokens * keys * head_dim / group_devices,
         (Note{"FLOPs of attention per layer", "on one device"}), unmasked, sequences, padded_heads, tokens, keys,
         head_dim, group_devices);
  FIGURE(trace, attention_time, flops / (matrix * peak), (Note{"Attention per layer", "scores stay on chip"}), flops,
         matrix, peak);
  step.operators.Add("attention", {attention_time, attention_time, {}, Bound::kCompute, flops, {}}, attention_layers,
                     "attention_layers", trace);
  const double spill = SpillFactor(deployment, rows, trace);
  FIGURE(trace, pass_time, spill * (linear_time + attention_layers * attention_time),
         (Note{"Prefill on the devices", "slower by the spill factor when the residual stream does not fit on chip"}),
         spill, linear_time, attention_layers, attention_time);
  if (spill > 1) {
    step.operators.Add(
        "spilled activations",
        {(spill - 1) * (linear_time + attention_layers * attention_time), {}, {}, Bound::kMemory, {}, {}}, 1);
  }
  trace.Alias("occupancy", pass_time, "pass_time");
  FIGURE(trace, fixed_time, 0 * pass_time,
         (Note{"Least time of a prefill", "none: a graph of any length is launched at once"}), pass_time);
  step.time = pass_time;
  step.occupancy = pass_time;
  return step;
}

PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  PassCost step;
  const double sequences = pass.sequences, checked = pass.checked, context = LongestContext(deployment, pass, trace);
  FIGURE(trace, rows, sequences * checked, (Note{"Tokens of the step", ""}), sequences, checked);
  trace.Alias("last_rows", rows, "rows");
  const Seconds linear_time = LinearTime(deployment, rows, rows, step.operators, trace);
  const double group_devices = deployment.mapping.devices_per_group, attention_layers = deployment.layers.attention;
  const double cache_width = CacheWidth(deployment, trace);
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  const double cache_stream = engine.kv_cache_bandwidth_efficiency;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double padded_heads = deployment.shapes.padded_heads, head_dim = deployment.shapes.head_dim;
  FIGURE(trace, flops, 4 * kFlop * sequences * checked * context * padded_heads * head_dim / group_devices,
         (Note{"FLOPs of attention per layer", "on one device"}), sequences, checked, context, padded_heads, head_dim,
         group_devices);
  FIGURE(trace, bytes, sequences * context * cache_width * kv_element / group_devices,
         (Note{"KV cache per layer", "keys and values of every sequence, read once; on one device"}), sequences,
         context, cache_width, kv_element, group_devices);
  const double matrix = engine.gemm_efficiency;
  const FlopsPerSecond peak = PeakAs("peak", deployment.device, Precision::kBf16, trace);
  FIGURE(trace, read_time, bytes / (cache_stream * bandwidth), (Note{"Time to read the KV cache of a layer", ""}),
         bytes, cache_stream, bandwidth);
  FIGURE(trace, compute_time, flops / (matrix * peak), (Note{"Compute of attention per layer", ""}), flops, matrix,
         peak);
  FIGURE(trace, attention_time, max(read_time, compute_time),
         (Note{"Attention per layer", "bound by the KV cache, or by compute where many heads share it"}), read_time,
         compute_time);
  const Bound bound = compute_time > read_time ? Bound::kCompute : data.bound;
  step.operators.Add("attention", {attention_time, compute_time, read_time, bound, flops, bytes}, attention_layers,
                     "attention_layers", trace);
  const Seconds engine_step = deployment.launch.step, engine_sequence = deployment.launch.per_sequence;
  KernelTime host;
  host.time = engine_step + sequences * engine_sequence;
  host.bound = Bound::kLatency;
  step.operators.Add("engine overhead", host, 1);
  FIGURE(trace, step_time, linear_time + attention_layers * attention_time + engine_step + sequences * engine_sequence,
         (Note{"Decode step", "layers, attention, LM head and engine overhead"}), linear_time, attention_layers,
         attention_time, engine_step, sequences, engine_sequence);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace slipstick
