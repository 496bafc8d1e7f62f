#include "core/serving/compiled_graph.h"

#include "core/operators/efficiency.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// Weight elements per layer (mean over the layers, whole model, heads padded) that each token computes with and that a pass of `rows`
// tokens reads.
struct Matrices {
  double computed = 0, read = 0;
};
Matrices MatricesOf(const Deployment& deployment, double rows) {
  LayerWidths whole = WholeWidths(deployment.model);
  whole.heads = deployment.shapes.padded_heads;
  whole.kv_heads = deployment.shapes.padded_kv_heads;
  const double attending = deployment.layers.attention / deployment.layers.total, dense = deployment.layers.dense / deployment.layers.total,
               with_experts = deployment.layers.moe / deployment.layers.total;
  double all = attending * MixerProducts(deployment.model, Mixer::kFullAttention, whole).Elements() +
               dense * FeedForwardProducts(deployment.model, FeedForward::kDense, whole).Elements();
  if (deployment.model.linear_attention) all += (1 - attending) * MixerProducts(deployment.model, Mixer::kRecurrence, whole).Elements();
  if (!deployment.model.moe) return {all, all};
  const double expert = ExpertElements(deployment.model, whole);
  all += with_experts * (FeedForwardProducts(deployment.model, FeedForward::kExperts, whole).Elements() - expert);
  const auto experts = static_cast<double>(deployment.model.moe->experts), chosen = static_cast<double>(deployment.model.moe->top_k);
  return {all + with_experts * chosen * expert, all + with_experts * experts * (1 - pow(1 - chosen / experts, rows)) * expert};
}

// Layers and LM head without attention, for `rows` tokens, `last_rows` of which go through the head.
Seconds LinearTime(const Deployment& deployment, double rows, double last_rows, OperatorBreakdown& operators, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const double devices = deployment.mapping.devices_per_group, layers = deployment.layers.total, hidden = deployment.shapes.hidden;
  const Matrices matrices = MatricesOf(deployment, rows);
  const double computed = matrices.computed, read = matrices.read;
  const Bytes weight = ElementSize(deployment.formats.mlp_weights), element = 2.0 * kB;
  const FlopsPerSecond peak = PeakRate(deployment.device, deployment.formats.activations),
                       wide_peak = PeakRate(deployment.device, Precision::kBf16);
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  const double matrix = engine.gemm_efficiency, stream = engine.bandwidth_efficiency,
               element_stream = engine.elementwise_bandwidth_efficiency;
  const Seconds fixed = engine.layer_overhead;
  const Flops pair = 2 * kFlop;
  const double width = 4 * hidden + 2 * static_cast<double>(deployment.model.ffn) +
                       (deployment.shapes.padded_heads + 2 * deployment.shapes.padded_kv_heads) * deployment.shapes.head_dim;
  FIGURE(trace, compute_time, pair * rows * computed / (devices * matrix * peak), (Note{"Compute per layer", ""}), pair, rows, computed,
         devices, matrix, peak);
  FIGURE(trace, stream_time, read * weight / (devices * stream * bandwidth), (Note{"Weights per layer", ""}), read, weight, devices, stream,
         bandwidth);
  FIGURE(trace, element_time, rows * width * element / (devices * element_stream * bandwidth), (Note{"Activations per layer", ""}), rows,
         width, element, devices, element_stream, bandwidth);
  FIGURE(trace, layer_time, norm(compute_time, stream_time, 3) + element_time + fixed,
         (Note{"A layer as one operator", "compute and weights overlap; activations and the fixed overhead do not"}), compute_time,
         stream_time, element_time, fixed);
  operators.Add("layer",
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
    const BytesPerSecond link = deployment.network.link;
    FIGURE(trace, reduction, 2 * (start + 2 * (devices - 1) / devices * rows * hidden * element / (reduce_stream * link)),
           (Note{"Two all-reduces per layer", ""}), start, devices, rows, hidden, element, reduce_stream, link);
    KernelTime kernel;
    kernel.time = reduction;
    kernel.bound = Bound::kNetwork;
    operators.Add("all-reduces", kernel, layers);
    reduce_time = reduction;
  }
  const double vocabulary = static_cast<double>(deployment.model.vocab);
  const Bytes head_weight = ElementSize(deployment.formats.head_weights);
  FIGURE(trace, head_compute, pair * last_rows * hidden * vocabulary / (devices * matrix * wide_peak), (Note{"Compute of the LM head", ""}),
         pair, last_rows, hidden, vocabulary, devices, matrix, wide_peak);
  FIGURE(trace, head_stream, hidden * vocabulary * head_weight / (devices * stream * bandwidth), (Note{"Weights of the LM head", ""}),
         hidden, vocabulary, head_weight, devices, stream, bandwidth);
  FIGURE(trace, head_time, norm(head_compute, head_stream, 3), (Note{"LM head", ""}), head_compute, head_stream);
  operators.Add("LM head",
                {head_time, head_compute, head_stream, head_compute > head_stream ? Bound::kCompute : Bound::kMemory,
                 pair * last_rows * hidden * vocabulary / devices, hidden * vocabulary * head_weight / devices},
                1);
  FIGURE(trace, linear_time, layers * (layer_time + reduce_time) + head_time, (Note{"Layers and LM head", "without attention"}), layers,
         layer_time, reduce_time, head_time);
  return linear_time;
}

}  // namespace

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  PassCost step;
  const double sequences = pass.sequences, tokens = pass.tokens, keys = pass.tokens + pass.cached;
  const double rows = sequences * tokens;
  const Seconds linear = LinearTime(deployment, rows, sequences, step.operators, trace);
  const double devices = deployment.mapping.devices_per_group, attending = deployment.layers.attention,
               heads = deployment.shapes.padded_heads, head_dim = deployment.shapes.head_dim, matrix = engine.gemm_efficiency;
  const double unmasked = engine.skips_masked_scores ? (pass.cached + pass.tokens / 2) / keys : 1;
  const double score_passes = engine.score_passes;
  const FlopsPerSecond peak = PeakRate(deployment.device, Precision::kBf16);
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  const Flops pair = 4 * kFlop;
  const Bytes score = 4.0 * kB;
  FIGURE(trace, attention_time,
         unmasked * pair * sequences * heads * tokens * keys * head_dim / (devices * matrix * peak) +
             score_passes * score * sequences * heads * tokens * keys / (devices * bandwidth),
         (Note{"Attention per layer", "compute, and score traffic where the compiler keeps the scores in memory"}), unmasked, pair,
         sequences, heads, tokens, keys, head_dim, devices, matrix, peak, score_passes, score, bandwidth);
  step.operators.Add("attention",
                     {attention_time,
                      attention_time,
                      {},
                      Bound::kCompute,
                      unmasked * pair * sequences * heads * tokens * keys * head_dim / devices,
                      score_passes * score * sequences * heads * tokens * keys / devices},
                     attending);
  const Bytes activations = rows * deployment.shapes.hidden * 2.0 * kB;
  const double power = engine.spill_exponent,
               spilled = engine.on_chip_capacity > Bytes{} ? max(1.0, activations / engine.on_chip_capacity) : 1;
  const double spill = pow(spilled, power);
  FIGURE(trace, pass_time, spill * (linear + attending * attention_time),
         (Note{"Prefill on the devices", "slower by the spill factor when the residual stream does not fit on chip"}), spill, linear,
         attending, attention_time);
  if (spill > 1)
    step.operators.Add("spilled activations", {(spill - 1) * (linear + attending * attention_time), {}, {}, Bound::kMemory, {}, {}}, 1);
  step.time = pass_time;
  step.occupancy = pass_time;
  return step;
}

PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  PassCost step;
  // A graph of fixed shapes is compiled for the longest context of the load.
  const double sequences = pass.sequences, context = pass.context + (engine.fixed_shapes ? pass.grown / 2 : 0);
  const Seconds linear = LinearTime(deployment, sequences * pass.checked, sequences * pass.checked, step.operators, trace);
  const double devices = deployment.mapping.devices_per_group, attending = deployment.layers.attention;
  const double cached = deployment.model.mla
                            ? static_cast<double>(deployment.model.mla->kv_lora_rank + deployment.model.mla->rope_head_dim) * devices
                            : 2 * deployment.shapes.padded_kv_heads * deployment.shapes.head_dim;
  const Bytes element = ElementSize(deployment.formats.kv_cache);
  const double cache_stream = engine.kv_cache_bandwidth_efficiency;
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  FIGURE(trace, kv_cache_time, sequences * context * cached * element / (devices * cache_stream * bandwidth),
         (Note{"KV cache per layer", "keys and values of every sequence, read once"}), sequences, context, cached, element, devices,
         cache_stream, bandwidth);
  step.operators.Add(
      "attention",
      {kv_cache_time,
       {},
       kv_cache_time,
       Bound::kMemory,
       4 * kFlop * sequences * pass.checked * context * deployment.shapes.padded_heads * deployment.shapes.head_dim / devices,
       sequences * context * cached * element / devices},
      attending);
  const Seconds engine_step = deployment.engine.overhead.step, engine_sequence = deployment.launch.per_sequence;
  trace.Input("engine_step", engine_step, "serving.engine.step");
  trace.Input("engine_sequence", engine_sequence, "serving.engine.sequence");
  KernelTime host;
  host.time = engine_step + sequences * engine_sequence;
  host.bound = Bound::kLatency;
  step.operators.Add("engine overhead", host, 1);
  FIGURE(trace, step_time, linear + attending * kv_cache_time + engine_step + sequences * engine_sequence,
         (Note{"Decode step", "layers, KV cache, LM head and engine overhead"}), linear, attending, kv_cache_time, engine_step, sequences,
         engine_sequence);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace slipstick
