#include "core/serving/whole_layer.h"

#include "core/operators/efficiency.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// Elements of a layer's matrices of the whole model, heads padded; those that a pass of `rows` computes with, and those it reads.
struct Matrices {
  double computed = 0, read = 0;
};
Matrices MatricesOf(const Deployment& d, double rows) {
  LayerWidths whole = WholeWidths(d.model);
  whole.heads = d.padded_heads;
  whole.kv_heads = d.padded_kv_heads;
  const double attending = d.attention_layers / d.layers, dense = d.dense_layers / d.layers, with_experts = d.moe_layers / d.layers;
  double all = attending * MixerProducts(d.model, Mixer::kFullAttention, whole).Elements() +
               dense * FeedForwardProducts(d.model, FeedForward::kDense, whole).Elements();
  if (d.model.linear_attention) all += (1 - attending) * MixerProducts(d.model, Mixer::kRecurrence, whole).Elements();
  if (!d.model.moe) return {all, all};
  const double expert = ExpertElements(d.model, whole);
  all += with_experts * (FeedForwardProducts(d.model, FeedForward::kExperts, whole).Elements() - expert);
  const auto experts = static_cast<double>(d.model.moe->experts), chosen = static_cast<double>(d.model.moe->top_k);
  return {all + with_experts * chosen * expert, all + with_experts * experts * (1 - pow(1 - chosen / experts, rows)) * expert};
}

// Layers and head of `rows` tokens, `heads_out` of which go through the head; attention apart.
Seconds LinearTime(const Deployment& d, double rows, double last_rows, Parts& parts, Trace& trace) {
  const CompiledGraph& engine = *d.engine.compiled_graph;
  const double devices = d.devices_per_group, layers = d.layers, hidden = d.hidden;
  const Matrices matrices = MatricesOf(d, rows);
  const double computed = matrices.computed, read = matrices.read;
  const Bytes weight = ElementSize(d.mlp_weights), element = 2.0 * kB;
  const FlopsPerSecond peak = PeakRate(d.device, d.activations), wide_peak = PeakRate(d.device, Precision::kBf16);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const double matrix = engine.gemm_efficiency, stream = engine.bandwidth_efficiency,
               element_stream = engine.elementwise_bandwidth_efficiency;
  const Seconds fixed = engine.layer_overhead;
  const Flops pair = 2 * kFlop;
  const double width = 4 * hidden + 2 * static_cast<double>(d.model.ffn) + (d.padded_heads + 2 * d.padded_kv_heads) * d.head_dim;
  FIGURE(trace, compute_time, pair * rows * computed / (devices * matrix * peak), (Note{"Arithmetic of a layer", ""}), pair, rows, computed,
         devices, matrix, peak);
  FIGURE(trace, stream_time, read * weight / (devices * stream * bandwidth), (Note{"Weights of a layer", ""}), read, weight, devices,
         stream, bandwidth);
  FIGURE(trace, element_time, rows * width * element / (devices * element_stream * bandwidth), (Note{"Activations of a layer", ""}), rows,
         width, element, devices, element_stream, bandwidth);
  FIGURE(trace, layer_time, norm(compute_time, stream_time, 3) + element_time + fixed,
         (Note{"A layer as one operator", "arithmetic and weights overlap; activations and the fixed cost do not"}), compute_time,
         stream_time, element_time, fixed);
  parts.Add("layer",
            {layer_time, compute_time, stream_time + element_time,
             fixed > norm(compute_time, stream_time, 3) + element_time ? Bound::kLatency
             : compute_time > stream_time                              ? Bound::kCompute
                                                                       : Bound::kMemory,
             pair * rows * computed / devices, (read * weight + rows * width * element) / devices},
            layers);
  Seconds reduce_time;
  if (devices > 1) {
    const Seconds start = engine.all_reduce_overhead;
    const double reduce_stream = engine.all_reduce_bandwidth_efficiency;
    const BytesPerSecond link = d.link;
    FIGURE(trace, reduction, 2 * (start + 2 * (devices - 1) / devices * rows * hidden * element / (reduce_stream * link)),
           (Note{"Two all-reduces of a layer", ""}), start, devices, rows, hidden, element, reduce_stream, link);
    KernelTime kernel;
    kernel.time = reduction;
    kernel.bound = Bound::kNetwork;
    parts.Add("all-reduces", kernel, layers);
    reduce_time = reduction;
  }
  const double vocabulary = static_cast<double>(d.model.vocab);
  const Bytes head_weight = ElementSize(d.head_weights);
  FIGURE(trace, head_compute, pair * last_rows * hidden * vocabulary / (devices * matrix * wide_peak), (Note{"Arithmetic of the head", ""}),
         pair, last_rows, hidden, vocabulary, devices, matrix, wide_peak);
  FIGURE(trace, head_stream, hidden * vocabulary * head_weight / (devices * stream * bandwidth), (Note{"Weights of the head", ""}), hidden,
         vocabulary, head_weight, devices, stream, bandwidth);
  FIGURE(trace, head_time, norm(head_compute, head_stream, 3), (Note{"Output matrix", ""}), head_compute, head_stream);
  parts.Add("output matrix",
            {head_time, head_compute, head_stream, head_compute > head_stream ? Bound::kCompute : Bound::kMemory,
             pair * last_rows * hidden * vocabulary / devices, hidden * vocabulary * head_weight / devices},
            1);
  FIGURE(trace, linear_time, layers * (layer_time + reduce_time) + head_time, (Note{"Layers and head", "attention apart"}), layers,
         layer_time, reduce_time, head_time);
  return linear_time;
}

}  // namespace

PassCost WholeLayerPrefill(const PrefillPass& pass, const Deployment& d, Trace& trace) {
  const CompiledGraph& engine = *d.engine.compiled_graph;
  PassCost step;
  const double sequences = pass.sequences, tokens = pass.tokens, keys = pass.tokens + pass.cached;
  const double rows = sequences * tokens;
  const Seconds linear = LinearTime(d, rows, sequences, step.parts, trace);
  const double devices = d.devices_per_group, attending = d.attention_layers, heads = d.padded_heads, head_dim = d.head_dim,
               matrix = engine.gemm_efficiency;
  const double unmasked = engine.skips_masked_scores ? (pass.cached + pass.tokens / 2) / keys : 1;
  const double score_passes = engine.score_passes;
  const FlopsPerSecond peak = PeakRate(d.device, Precision::kBf16);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const Flops pair = 4 * kFlop;
  const Bytes score = 4.0 * kB;
  FIGURE(trace, attention_time,
         unmasked * pair * sequences * heads * tokens * keys * head_dim / (devices * matrix * peak) +
             score_passes * score * sequences * heads * tokens * keys / (devices * bandwidth),
         (Note{"Attention of a layer", "scores in arithmetic, and through memory where the compiler leaves them there"}), unmasked, pair,
         sequences, heads, tokens, keys, head_dim, devices, matrix, peak, score_passes, score, bandwidth);
  step.parts.Add("attention",
                 {attention_time,
                  attention_time,
                  {},
                  Bound::kCompute,
                  unmasked * pair * sequences * heads * tokens * keys * head_dim / devices,
                  score_passes * score * sequences * heads * tokens * keys / devices},
                 attending);
  const Bytes activations = rows * d.hidden * 2.0 * kB;
  const double power = engine.spill_exponent,
               spilled = engine.on_chip_capacity > Bytes{} ? max(1.0, activations / engine.on_chip_capacity) : 1;
  const double spill = pow(spilled, power);
  FIGURE(trace, pass_time, spill * (linear + attending * attention_time),
         (Note{"Prefill on the devices", "longer by the spill once the residual stream no longer fits on chip"}), spill, linear, attending,
         attention_time);
  if (spill > 1)
    step.parts.Add("activations off the chip", {(spill - 1) * (linear + attending * attention_time), {}, {}, Bound::kMemory, {}, {}}, 1);
  step.time = pass_time;
  step.occupancy = pass_time;
  return step;
}

PassCost WholeLayerDecode(const DecodePass& pass, const Deployment& d, Trace& trace) {
  const CompiledGraph& engine = *d.engine.compiled_graph;
  PassCost step;
  // A graph of fixed shapes is compiled for the longest context that the load brings.
  const double sequences = pass.sequences, context = pass.context + (engine.fixed_shapes ? pass.grown / 2 : 0);
  const Seconds linear = LinearTime(d, sequences * pass.checked, sequences * pass.checked, step.parts, trace);
  const double devices = d.devices_per_group, attending = d.attention_layers;
  const double cached = d.model.mla ? static_cast<double>(d.model.mla->kv_lora_rank + d.model.mla->rope_head_dim) * devices
                                    : 2 * d.padded_kv_heads * d.head_dim;
  const Bytes element = ElementSize(d.cache);
  const double cache_stream = engine.kv_cache_bandwidth_efficiency;
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  FIGURE(trace, cache_time, sequences * context * cached * element / (devices * cache_stream * bandwidth),
         (Note{"Cache of a layer", "keys and values of every sequence, read once"}), sequences, context, cached, element, devices,
         cache_stream, bandwidth);
  step.parts.Add("attention",
                 {cache_time,
                  {},
                  cache_time,
                  Bound::kMemory,
                  4 * kFlop * sequences * pass.checked * context * d.padded_heads * d.head_dim / devices,
                  sequences * context * cached * element / devices},
                 attending);
  const Seconds engine_step = d.engine.overhead.step, engine_sequence = d.engine.overhead.per_sequence;
  trace.Input("engine_step", engine_step, "serving.engine.step");
  trace.Input("engine_sequence", engine_sequence, "serving.engine.sequence");
  KernelTime host;
  host.time = engine_step + sequences * engine_sequence;
  host.bound = Bound::kLatency;
  step.parts.Add("engine", host, 1);
  FIGURE(trace, step_time, linear + attending * cache_time + engine_step + sequences * engine_sequence,
         (Note{"Decode step", "layers, cache, head and what the devices wait for the engine"}), linear, attending, cache_time, engine_step,
         sequences, engine_sequence);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace slipstick
