// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#include "core/base/figure.h"
#include "core/engine_step/step_time.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// Weights (elements) of one layer of each kind, on all devices, with heads padded to the ranks.
struct GraphElements {
  Ratio attention = 0, recurrence = 0, mlp = 0;
  MatrixElements experts{};
  Ratio all_layers = 0;  // only if layers share a KV cache: attention and MLP of all layers
};
GraphElements GraphElementsOf(const Deployment& deployment) {
  const Model& model = deployment.model;
  LayerWidths whole = WholeWidths(model);
  whole.heads = deployment.shapes.padded_heads;
  whole.kv_heads = deployment.shapes.padded_kv_heads;
  GraphElements elements;
  if (model.SharesKv()) {
    elements.all_layers = CountParameters(model).matrices;
  } else {
    elements.attention = ElementsOf(MixerProducts(model, Mixer::kFullAttention, whole)).all_tokens;
    elements.mlp = ElementsOf(FeedForwardProducts(model, FeedForward::kDense, whole)).all_tokens;
    if (model.linear_attention)
      elements.recurrence = ElementsOf(MixerProducts(model, Mixer::kRecurrence, whole)).all_tokens;
  }
  if (model.moe) elements.experts = ElementsOf(FeedForwardProducts(model, FeedForward::kExperts, whole));
  return elements;
}

// Elements of the weights per layer, mean over the layers: used per token, and read by a pass of `rows` tokens.
struct Matrices {
  Ratio computed = 0, read = 0;
};

// Weights that every token uses, outside layers with experts.
Ratio CommonMatrices(const Deployment& deployment, const GraphElements& elements) {
  const ServedLayers& layers = deployment.layers;
  if (deployment.model.SharesKv())
    return Figure("Weights of attention and MLP", elements.all_layers / layers.total, "mean over the layers");
  const Ratio attention_share = layers.attention / layers.total;
  const Ratio attention_and_mlp =
      Figure("Weights of attention and dense MLP",
             attention_share * elements.attention + layers.dense / layers.total * elements.mlp, "mean over the layers");
  if (!deployment.model.linear_attention) return attention_and_mlp;
  return Figure("Weights of attention, recurrence and dense MLP",
                attention_and_mlp + (1 - attention_share) * elements.recurrence, "mean over the layers");
}

Matrices MatricesOf(const Deployment& deployment, Ratio rows) {
  const GraphElements elements = GraphElementsOf(deployment);
  const Ratio common = CommonMatrices(deployment, elements);
  if (!deployment.model.moe) return {common, common};
  const Ratio experts(deployment.model.moe->experts), top_k(deployment.model.moe->top_k);
  const Ratio moe_share = deployment.layers.moe / deployment.layers.total;
  const Ratio outside_experts = Figure("Weights outside the routed experts",
                                       common + moe_share * elements.experts.all_tokens, "mean over the layers");
  return {Figure("Weights that a token computes with", outside_experts + moe_share * top_k * elements.experts.expert),
          Figure("Weights read",
                 outside_experts + moe_share * experts * (1 - pow(1 - top_k / experts, rows)) * elements.experts.expert,
                 "experts that get any of the rows")};
}

// The two all-reduces of a layer.
Seconds ReduceTime(const Deployment& deployment, Ratio rows) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const Ratio devices = deployment.mapping.devices_per_group;
  const Bytes residual = ResidualBytes(rows, deployment.shapes.hidden);
  return Figure(
      "Two all-reduces per layer",
      2 * (engine.all_reduce_overhead + 2 * (devices - 1) / devices * residual /
                                            (engine.all_reduce_bandwidth_efficiency * deployment.network.link)));
}

// A layer without attention, as one operator.
KernelTime LayerOperator(const Deployment& deployment, Ratio rows) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const RankShapes& shapes = deployment.shapes;
  const Ratio devices = deployment.mapping.devices_per_group;
  const Matrices matrices = MatricesOf(deployment, rows);
  const FlopsPerSecond peak = PeakRate(deployment.device, deployment.formats.activations);
  const Stream data = SlowestStream(deployment.device);
  const Ratio width = Figure("Activations per token of a layer",
                             4 * shapes.hidden + 2 * Ratio(deployment.model.ffn) +
                                 (shapes.padded_heads + 2 * shapes.padded_kv_heads) * shapes.head_dim,
                             "elements");
  const Flops flops = Figure("FLOPs of a layer", 2 * kFlop * rows * matrices.computed / devices, "on one device");
  const Bytes weights =
      Figure("Weights of a layer", matrices.read * deployment.formats.sizes.mlp_weights / devices, "on one device");
  const Bytes activations = Figure("Activations of a layer", rows * width * (2 * kB) / devices, "on one device");
  const Seconds compute = Figure("Compute per layer", flops / (engine.gemm_efficiency * peak));
  const Seconds reading = Figure("Weights per layer", weights / (engine.bandwidth_efficiency * data.bandwidth));
  const Seconds element_time =
      Figure("Activations per layer", activations / (engine.elementwise_bandwidth_efficiency * data.bandwidth));
  const Seconds overhead = engine.layer_overhead;
  const Seconds time = Figure("A layer as one operator", norm(compute, reading, 3) + element_time + overhead,
                              "compute and weights overlap; activations and the fixed overhead do not");
  const Bound bound = overhead > time - overhead ? Bound::kLatency : compute > reading ? Bound::kCompute : data.bound;
  return {time,  compute, reading + element_time,
          bound, flops,   Figure("Memory traffic of a layer", weights + activations, "on one device")};
}

KernelTime HeadOperator(const Deployment& deployment, Ratio rows) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const Ratio devices = deployment.mapping.devices_per_group, hidden = deployment.shapes.hidden,
              vocab(deployment.model.vocab);
  const Stream data = SlowestStream(deployment.device);
  const FlopsPerSecond peak = PeakRate(deployment.device, Precision::kBf16);
  const Flops flops = Figure("FLOPs of the LM head", 2 * kFlop * rows * hidden * vocab / devices, "on one device");
  const Bytes weights = Figure("Weights of the LM head",
                               hidden * vocab * deployment.formats.sizes.head_weights / devices, "on one device");
  const Seconds compute = Figure("Compute of the LM head", flops / (engine.gemm_efficiency * peak));
  const Seconds reading =
      Figure("Time to read the weights of the LM head", weights / (engine.bandwidth_efficiency * data.bandwidth));
  return {Figure("LM head", norm(compute, reading, 3)),     compute, reading,
          compute > reading ? Bound::kCompute : data.bound, flops,   weights};
}

// Layers and LM head without attention, for `rows` tokens, `last_rows` of which go through the head.
Seconds LinearTime(const Deployment& deployment, Ratio rows, Ratio last_rows, OperatorBreakdown& operators) {
  const Ratio layers = deployment.layers.total;
  const KernelTime layer = LayerOperator(deployment, rows), head = HeadOperator(deployment, last_rows);
  const Seconds reduction = deployment.mapping.devices_per_group > 1 ? ReduceTime(deployment, rows) : Seconds{};
  operators.Add("layer", layer, layers);
  operators.Add("all-reduces", NetworkTime(reduction), layers);
  operators.Add("LM head", head, 1);
  return Figure("Layers and LM head", layers * (layer.time + reduction) + head.time, "without attention");
}

// Slowdown if the residual stream does not fit on chip.
Ratio SpillFactor(const Deployment& deployment, Ratio rows) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  if (!(engine.on_chip_capacity > Bytes{})) return 1;
  const Bytes activations = Figure("Residual stream", rows * deployment.shapes.hidden * (2 * kB), "in 16 bit");
  return Figure("Slow-down by spilled activations",
                pow(max(1.0, activations / engine.on_chip_capacity), engine.spill_exponent));
}

// A graph of fixed shapes is compiled for the longest context of the load.
Ratio CompiledContext(const Deployment& deployment, const DecodePass& pass) {
  if (!deployment.engine.compiled_graph->fixed_shapes) return pass.context;
  return Figure("Longest context of the load", pass.context + pass.grown / 2, "that the graph is compiled for");
}

// Elements of the KV cache per token and layer, all devices.
Ratio CacheWidth(const Deployment& deployment) {
  if (const std::optional<Mla>& mla = deployment.model.mla) {
    return Figure("KV cache per token and layer",
                  (Ratio(mla->kv_lora_rank) + Ratio(mla->rope_head_dim)) * deployment.mapping.devices_per_group,
                  "on every device");
  }
  return Figure("KV cache per token and layer", 2 * deployment.shapes.padded_kv_heads * deployment.shapes.head_dim,
                "elements");
}

KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const auto [sequences, tokens, cached] = pass;
  const Ratio keys = Figure("Keys of a prompt", tokens + cached, "with those in the KV cache");
  const Ratio unmasked = engine.skips_masked_scores
                             ? Figure("Share of the scores that the causal mask leaves", (cached + tokens / 2) / keys)
                             : Ratio(1);
  const FlopsPerSecond peak = PeakRate(deployment.device, Precision::kBf16);
  const Flops flops = Figure("FLOPs of attention per layer",
                             4 * kFlop * unmasked * sequences * deployment.shapes.padded_heads * tokens * keys *
                                 deployment.shapes.head_dim / deployment.mapping.devices_per_group,
                             "on one device");
  const Seconds time = Figure("Attention per layer", flops / (engine.gemm_efficiency * peak), "scores stay on chip");
  return {time, time, {}, Bound::kCompute, flops, {}};
}

KernelTime DecodeAttention(const Deployment& deployment, const DecodePass& pass) {
  const CompiledGraph& engine = *deployment.engine.compiled_graph;
  const RankShapes& shapes = deployment.shapes;
  const Ratio devices = deployment.mapping.devices_per_group, context = CompiledContext(deployment, pass);
  const Stream data = SlowestStream(deployment.device);
  const FlopsPerSecond peak = PeakRate(deployment.device, Precision::kBf16);
  const Flops flops =
      Figure("FLOPs of attention per layer",
             4 * kFlop * pass.sequences * pass.checked * context * shapes.padded_heads * shapes.head_dim / devices,
             "on one device");
  const Bytes bytes =
      Figure("KV cache per layer",
             pass.sequences * context * CacheWidth(deployment) * deployment.formats.sizes.kv_cache / devices,
             "keys and values of every sequence, read once; on one device");
  const Seconds reading =
      Figure("Time to read the KV cache of a layer", bytes / (engine.kv_cache_bandwidth_efficiency * data.bandwidth));
  const Seconds compute = Figure("Compute of attention per layer", flops / (engine.gemm_efficiency * peak));
  const Seconds time = Figure("Attention per layer", max(reading, compute),
                              "bound by the KV cache, or by compute where many heads share it");
  return {time, compute, reading, compute > reading ? Bound::kCompute : data.bound, flops, bytes};
}

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment) {
  PassCost step;
  const Ratio rows = Figure("Tokens of the pass", pass.sequences * pass.tokens);
  const Seconds linear = LinearTime(deployment, rows, pass.sequences, step.operators);
  const KernelTime attention = PrefillAttention(deployment, pass);
  step.operators.Add("attention", attention, deployment.layers.attention);
  const Ratio spill = SpillFactor(deployment, rows);
  const Seconds kept = linear + deployment.layers.attention * attention.time;
  step.time = Figure("Prefill on the devices", spill * kept,
                     "slower by the spill factor when the residual stream does not fit on chip");
  if (spill > 1) step.operators.Add("spilled activations", {(spill - 1) * kept, {}, {}, Bound::kMemory, {}, {}}, 1);
  step.occupancy = step.time;
  step.fixed = Figure("Least time of a prefill", 0 * step.time, "none: a graph of any length is launched at once");
  return step;
}

PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment) {
  PassCost step;
  const Ratio rows = Figure("Tokens of the step", pass.sequences * pass.checked);
  const Seconds linear = LinearTime(deployment, rows, rows, step.operators);
  const KernelTime attention = DecodeAttention(deployment, pass);
  step.operators.Add("attention", attention, deployment.layers.attention);
  const Seconds scheduling = deployment.launch.step, of_sequences = pass.sequences * deployment.launch.per_sequence;
  step.operators.Add("engine overhead", Waiting(scheduling + of_sequences), 1);
  step.time = Figure("Decode step", linear + deployment.layers.attention * attention.time + scheduling + of_sequences,
                     "layers, attention, LM head and engine overhead");
  step.occupancy = step.time;
  return step;
}

}  // namespace

constinit const StepComposition kCompiledGraphSteps{
    .prefill = CompiledGraphPrefill, .decode = CompiledGraphDecode, .has_constants = [](const Engine& engine) {
      return engine.compiled_graph.has_value();
    }};

}  // namespace slipstick
