#include "core/engine_step/layer_pipelined.h"

#include <string>

#include "core/engine_step/named_terms.h"
#include "core/engine_step/served_product.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// In-line ECC costs GDDR memory a tenth of its bandwidth and a sixteenth of its capacity; the usable capacity on the
// data sheet shows whether a device has it.
double RateUnderEcc(const Device& device, const LayerPipeline& engine, Trace& trace) {
  if (device.memory.technology.rfind("GDDR", 0) != 0) {
    return trace.Constant("ecc_share", 1.0, "serving.layer_pipeline", "no in-line ECC on this memory");
  }
  const Bytes capacity = device.memory.capacity, usable = UsableMemory(device);
  trace.Input("capacity", capacity, "cluster.device.memory.capacity");
  trace.Input("usable", usable, "cluster.device.memory.usable");
  const double gib_per_gb = In(1 * kGiB, kGB);
  CONSTANTS(trace, "units", "2^30 bytes over 10^9", gib_per_gb);
  const double usable_without_ecc = engine.usable_without_ecc, ecc_loss = engine.ecc_loss;
  trace.Input("usable_without_ecc", usable_without_ecc, "serving.engine.layer_split.usable_without_ecc");
  trace.Input("ecc_loss", ecc_loss, "serving.engine.layer_split.ecc_loss");
  FIGURE(trace, least_without, usable_without_ecc * gib_per_gb * capacity,
         (Note{"Least usable memory without in-line ECC"}), usable_without_ecc, gib_per_gb, capacity);
  FIGURE(
      trace, ecc_share, 1 - ecc_loss * (1 - min(1.0, floor(usable / least_without))),
      (Note{"Share of the bandwidth under ECC", "less where the usable memory shows that the device has it in line"}),
      ecc_loss, usable, least_without);
  return ecc_share;
}

// With fp16 accumulation GeForce cards are twice as fast.
FlopsPerSecond MatrixPeak(const Deployment& deployment, Trace& trace) {
  const std::optional<FlopsPerSecond>& narrow_sums = deployment.device.peak.fp16_accumulate;
  if (!deployment.engine.layer_pipeline->fp16_accumulate || !narrow_sums)
    return PeakRate(deployment.device, Precision::kFp16, trace);
  trace.Input("peak_rate", *narrow_sums, "cluster.device.peak.fp16_accumulate");
  return *narrow_sums;
}

bool IsQuantized(const Deployment& deployment) { return BytesPerElement(deployment.formats.mlp_weights) < 2; }

// Weights of all layers that a pass of `rows` tokens reads; of one row: those that a token computes with.
double LayerMatrices(const Deployment& deployment, double rows, Trace& trace) {
  const Trace::Scope scope(trace, "matrices");
  const ParameterCount count = CountParameters(deployment.model, trace);
  const double active_matrices = count.active_matrices, all_matrices = count.matrices;
  if (!deployment.model.moe || deployment.model.moe->top_k >= deployment.model.moe->experts) {
    trace.Alias("layer_matrices", all_matrices, "all_matrices");
    return all_matrices;
  }
  const auto experts = static_cast<double>(deployment.model.moe->experts),
             top_k = static_cast<double>(deployment.model.moe->top_k);
  FIGURE(trace, one_expert, (all_matrices - active_matrices) / (experts - top_k),
         (Note{"Weights of an expert", "in all layers"}), all_matrices, active_matrices, experts, top_k);
  FIGURE(trace, experts_hit, (1 - pow(1 - top_k / experts, rows)) * experts,
         (Note{"Experts that get any of the rows", ""}), top_k, experts, rows);
  FIGURE(trace, layer_matrices, active_matrices + max(0.0, experts_hit - top_k) * one_expert,
         (Note{"Weights that a pass reads", "all layers"}), active_matrices, experts_hit, top_k, one_expert);
  return layer_matrices;
}

// Names the engine's constants and the device's.
void BindPipeline(const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return;
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const std::string path = "serving.engine.layer_split.";
  trace.Input("units", static_cast<double>(deployment.device.units), "cluster.device.units");
  trace.Input("clock", deployment.device.clock, "cluster.device.clock");
  trace.Input("matrix", engine.gemm_efficiency, path + "matrix");
  trace.Input("attention_share", engine.attention_efficiency, path + "attention");
  trace.Input("clocks_per_layer", engine.clocks_per_layer, path + "clocks_per_layer");
  trace.Input("activation_passes", engine.activation_passes, path + "activation_passes");
  trace.Input("dequantised_bytes", engine.dequantized_bytes, path + "dequantised_bytes");
  trace.Input("engine_stream", engine.bandwidth_efficiency, path + "stream");
  trace.Input("bytes_per_clock", engine.bytes_per_clock, path + "bytes_per_clock");
  trace.Input("score_passes", engine.score_passes, path + "score_passes");
  trace.Input("cache_stream", engine.kv_cache_bandwidth_ratio, path + "cache_stream");
  trace.Input("weight_size", ElementSize(deployment.formats.mlp_weights), "serving.precision.weights");
  trace.Input("head_dim", deployment.shapes.head_dim, "model.head_dim");
  trace.Input("heads", static_cast<double>(deployment.model.heads), "model.heads");
  trace.Input("kv_heads", static_cast<double>(deployment.model.KvHeads()), "model.kv_heads");
}

// Time of all micro-batches through the pipeline, without the hops.
Seconds PipelinedTime(const Deployment& deployment, double micro_batches, Seconds micro_batch_time, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const double pp = deployment.mapping.pp, stage_layers = deployment.layers.per_stage;
  if (pp <= 1) {
    FIGURE(trace, through, micro_batches * micro_batch_time, (Note{"All micro-batches", "one after the other"}),
           micro_batches, micro_batch_time);
    return through;
  }
  const double most_in_flight = static_cast<double>(engine.max_in_flight);
  trace.Input("most_in_flight", most_in_flight, "serving.engine.layer_split.in_flight");
  FIGURE(trace, in_flight, min(pp, most_in_flight), (Note{"Micro-batches in flight", "at most one per device"}), pp,
         most_in_flight);
  const double pipeline = in_flight > 1 ? engine.pipeline_efficiency : Ratio(1);
  if (in_flight > 1) {
    trace.Input("pipeline", pipeline, "serving.engine.layer_split.pipeline");
  } else {
    CONSTANTS(trace, "serving.layer_pipeline", "a single micro-batch in flight has no pipeline to lose in", pipeline);
  }
  // The host launches stage after stage. A stage with more kernels than the device's launch queue blocks the host until
  // all but a queue's worth have run; meanwhile no other micro-batch is launched.
  const double layer_kernels = IsQuantized(deployment) ? engine.kernels_per_quantized_layer : engine.kernels_per_layer;
  trace.Input("layer_kernels", layer_kernels,
              IsQuantized(deployment) ? "serving.engine.layer_split.kernels_per_quantised_layer"
                                      : "serving.engine.layer_split.kernels_per_layer");
  FIGURE(trace, stage_kernels, stage_layers * layer_kernels, (Note{"Kernel launches of a stage", ""}), stage_layers,
         layer_kernels);
  const double launch_queue = engine.launch_queue;
  FIGURE(trace, host_held, max(0.0, 1 - launch_queue / stage_kernels),
         (Note{"Fraction of a stage that blocks the host", "launches beyond the device's queue"}), launch_queue,
         stage_kernels);
  FIGURE(trace, pipelined, (micro_batches + in_flight - 1) * micro_batch_time / (pipeline * in_flight),
         (Note{"Micro-batches in a pipeline", ""}), micro_batches, in_flight, micro_batch_time, pipeline);
  FIGURE(trace, alone, micro_batches * micro_batch_time, (Note{"Micro-batches one after the other", ""}), micro_batches,
         micro_batch_time);
  if (!(host_held > 0)) {
    FIGURE(trace, through, min(alone, pipelined), (Note{"All micro-batches", "the host launches ahead"}), alone,
           pipelined);
    return through;
  }
  FIGURE(trace, held, micro_batch_time + (micro_batches - 1) * (pp - 1 + host_held) * micro_batch_time / pp,
         (Note{"Micro-batches that wait for the host", ""}), micro_batch_time, micro_batches, pp, host_held);
  FIGURE(trace, through, min(alone, max(held, pipelined)),
         (Note{"All micro-batches", "as far as the host launches ahead"}), alone, held, pipelined);
  return through;
}

// Weights of a decode step: those read in the layers, and those that a token computes with, the LM head's included.
struct Weights {
  double read, multiplied;
};
Weights WeightsOf(const Deployment& deployment, double sequences, double hidden, double vocab, Trace& trace) {
  const double read_matrices = LayerMatrices(deployment, sequences, trace);
  trace.Alias("read_matrices", read_matrices, "layer_matrices");
  const double token_matrices = LayerMatrices(deployment, 1, trace);
  trace.Alias("token_matrices", token_matrices, "layer_matrices");
  FIGURE(trace, multiplied, token_matrices + hidden * vocab,
         (Note{"Weights that a token computes with", "with the LM head"}), token_matrices, hidden, vocab);
  return {read_matrices, multiplied};
}

// Share of the memory bandwidth: the engine's, less under in-line ECC.
double StreamShare(const Deployment& deployment, Trace& trace) {
  const double engine_stream = deployment.engine.layer_pipeline->bandwidth_efficiency,
               ecc_share = RateUnderEcc(deployment.device, *deployment.engine.layer_pipeline, trace);
  FIGURE(trace, stream, engine_stream * ecc_share, (Note{"Share of the memory bandwidth", "of matrix-vector products"}),
         engine_stream, ecc_share);
  return stream;
}

// All weights of a decode step, read once.
KernelTime WeightsOperator(const Deployment& deployment, double sequences, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const Trace::Scope scope(trace, "weights");
  const double hidden = deployment.shapes.hidden, vocab = static_cast<double>(deployment.model.vocab);
  trace.Alias("rows", sequences, "sequences");
  const Weights weights = WeightsOf(deployment, sequences, hidden, vocab, trace);
  const double read_matrices = weights.read, multiplied = weights.multiplied;
  const Bytes weight_size = ElementSize(deployment.formats.mlp_weights),
              head_size = ElementSize(deployment.formats.head_weights);
  BindWeightSize("head_size", deployment.formats.head_weights, deployment.formats.keeps_head, deployment, trace);
  const FlopsPerSecond peak_rate = MatrixPeak(deployment, trace);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double stream = StreamShare(deployment, trace);
  const double units = static_cast<double>(deployment.device.units), bytes_per_clock = engine.bytes_per_clock;
  const Hertz clock = deployment.device.clock;
  FIGURE(trace, flops, 2 * kFlop * sequences * multiplied, (Note{"FLOPs", ""}), sequences, multiplied);
  FIGURE(trace, bytes, read_matrices * weight_size + hidden * vocab * head_size,
         (Note{"Weights read", "of all layers and the LM head"}), read_matrices, weight_size, hidden, vocab, head_size);
  FIGURE(trace, weight_time,
         max(bytes / min(stream * bandwidth, bytes_per_clock * kB * units * clock), flops / peak_rate),
         (Note{"Weights", "read once; bound by memory, by the SMs' input rate or by compute"}), bytes, stream,
         bandwidth, bytes_per_clock, units, clock, flops, peak_rate);
  const bool is_fed = bytes_per_clock * kB * units * clock < stream * bandwidth;
  KernelTime kernel{weight_time, {}, {}, Bound::kCompute, flops, bytes};
  if (weight_time > flops / peak_rate) kernel.bound = is_fed ? Bound::kL1 : data.bound;
  if (is_fed) kernel.l1 = bytes / (bytes_per_clock * kB * units * clock);
  return kernel;
}

// Attention of all layers in a decode step.
KernelTime CacheOperator(const Deployment& deployment, double sequences, double context, Trace& trace) {
  const Trace::Scope scope(trace, "attention");
  const double attention_layers = deployment.layers.attention, heads = static_cast<double>(deployment.model.heads),
               kv_heads = static_cast<double>(deployment.model.KvHeads()), head_dim = deployment.shapes.head_dim;
  const double cache_stream = deployment.engine.layer_pipeline->kv_cache_bandwidth_ratio;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const Bytes half = 2.0 * kB;
  FIGURE(trace, flops, 4 * kFlop * sequences * attention_layers * heads * head_dim * context, (Note{"FLOPs", ""}),
         sequences, attention_layers, heads, head_dim, context);
  FIGURE(trace, bytes, 2 * sequences * attention_layers * kv_heads * head_dim * half * context,
         (Note{"Keys and values", "each once"}), sequences, attention_layers, kv_heads, head_dim, half, context);
  FIGURE(trace, kv_cache_time,
         max(2 * sequences * attention_layers * heads * head_dim * half * context / (cache_stream * bandwidth),
             bytes / bandwidth),
         (Note{"KV cache", "every query head reads keys and values itself, partly from L2"}), sequences,
         attention_layers, heads, head_dim, half, context, cache_stream, bandwidth, bytes);
  return {kv_cache_time, {}, {}, data.bound, flops, bytes};
}

// Small kernels of all layers.
KernelTime SmallKernels(const Deployment& deployment, Trace& trace) {
  const double layers = deployment.layers.total, clocks_per_layer = deployment.engine.layer_pipeline->clocks_per_layer;
  const Hertz clock = deployment.device.clock;
  FIGURE(trace, layer_overhead, layers * clocks_per_layer / clock, (Note{"Small kernels", "dependent, in every layer"}),
         layers, clocks_per_layer, clock);
  return {layer_overhead, {}, {}, Bound::kLatency, {}, {}};
}

}  // namespace

PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  PassCost step;
  BindPipeline(deployment, trace);
  const KernelTime weights = WeightsOperator(deployment, pass.sequences, trace);
  step.operators.Add("weights", weights, 1, "", trace);
  const KernelTime attention = CacheOperator(deployment, pass.sequences, pass.context, trace);
  step.operators.Add("attention", attention, 1, "", trace);
  const KernelTime small = SmallKernels(deployment, trace);
  step.operators.Add("small kernels", small, 1);
  const double pp = deployment.mapping.pp;
  const Seconds hop = deployment.engine.layer_pipeline->decode_hop;
  trace.Input("hop", hop, "serving.engine.layer_split.hop");
  FIGURE(trace, hop_time, (pp - 1) * hop, (Note{"Pipeline P2P", "to the next devices"}), pp, hop);
  step.operators.Add(kStageSend, {hop_time, {}, {}, Bound::kNetwork, {}, {}}, 1);
  const Seconds weight_time = weights.time, kv_cache_time = attention.time, layer_overhead = small.time;
  FIGURE(trace, step_time, weight_time + kv_cache_time + layer_overhead + hop_time,
         (Note{"Decode step", "weights, KV cache, small kernels, pipeline P2P"}), weight_time, kv_cache_time,
         layer_overhead, hop_time);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

namespace {

// GEMMs of a micro-batch of `rows` tokens.
KernelTime ProductsOperator(const Deployment& deployment, double rows, FlopsPerSecond peak_rate, Trace& trace) {
  const double matrix = deployment.engine.layer_pipeline->gemm_efficiency,
               matrices = LayerMatrices(deployment, 1, trace);
  const Trace::Scope scope(trace, "GEMMs");
  trace.Alias("matrices", matrices, "layer_matrices");
  FIGURE(trace, flops, 2 * kFlop * matrices * rows, (Note{"FLOPs", ""}), matrices, rows);
  FIGURE(trace, product_time, flops / (matrix * peak_rate), (Note{"GEMMs per micro-batch", ""}), flops, matrix,
         peak_rate);
  return {product_time, {}, {}, Bound::kCompute, flops, {}};
}

// Memory traffic of a micro-batch beside its GEMMs.
KernelTime TrafficOperator(const Deployment& deployment, double rows, double keys, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const double read = IsQuantized(deployment) ? LayerMatrices(deployment, rows, trace) : 0;
  const Trace::Scope scope(trace, "traffic");
  if (IsQuantized(deployment)) {
    trace.Alias("read", read, "layer_matrices");
  } else {
    trace.Input("read", read, "serving.precision.weights");  // only quantized weights are dequantized
  }
  const double layers = deployment.layers.total, attention_layers = deployment.layers.attention,
               heads = static_cast<double>(deployment.model.heads), hidden = deployment.shapes.hidden,
               activation_passes = engine.activation_passes, dequantised_bytes = engine.dequantized_bytes,
               score_passes = engine.score_passes;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  FIGURE(trace, bytes,
         layers * hidden * rows * (4 * activation_passes * kB) + read * (dequantised_bytes * kB) +
             attention_layers * heads * rows * keys * (4 * score_passes * kB),
         (Note{"Memory traffic per micro-batch", "activations, dequantized weights, scores"}), layers, hidden, rows,
         activation_passes, read, dequantised_bytes, attention_layers, heads, keys, score_passes);
  FIGURE(trace, traffic_time, bytes / bandwidth, (Note{"Time of the memory traffic per micro-batch", ""}), bytes,
         bandwidth);
  return {traffic_time, {}, {}, data.bound, {}, bytes};
}

// Attention of a micro-batch in all layers.
KernelTime AttentionOperator(const Deployment& deployment, double rows, double keys, FlopsPerSecond peak_rate,
                             Trace& trace) {
  const Trace::Scope scope(trace, "attention");
  const double attention_layers = deployment.layers.attention, heads = static_cast<double>(deployment.model.heads),
               head_dim = deployment.shapes.head_dim,
               attention_share = deployment.engine.layer_pipeline->attention_efficiency;
  FIGURE(trace, flops, 4 * kFlop * attention_layers * heads * head_dim * rows * keys, (Note{"FLOPs", ""}),
         attention_layers, heads, head_dim, rows, keys);
  FIGURE(trace, attention_time, flops / (attention_share * peak_rate), (Note{"Attention per micro-batch", ""}), flops,
         attention_share, peak_rate);
  return {attention_time, {}, {}, Bound::kCompute, flops, {}};
}

// A micro-batch of `rows` tokens, of prompts of `tokens` behind `cached`, through all layers.
Seconds TimeMicroBatch(const Deployment& deployment, double rows, double tokens, double cached,
                       OperatorBreakdown& operators, Trace& trace) {
  FIGURE(trace, keys, max(rows, cached + tokens / 2), (Note{"Keys of a query", "mean; at least the micro-batch"}), rows,
         cached, tokens);
  const FlopsPerSecond peak_rate = MatrixPeak(deployment, trace);
  const KernelTime products = ProductsOperator(deployment, rows, peak_rate, trace);
  operators.Add("GEMMs", products, 1, "", trace);
  const KernelTime attention = AttentionOperator(deployment, rows, keys, peak_rate, trace);
  operators.Add("attention", attention, 1, "", trace);
  const KernelTime traffic = TrafficOperator(deployment, rows, keys, trace);
  operators.Add("activations and weights through memory", traffic, 1, "", trace);
  const KernelTime small = SmallKernels(deployment, trace);
  operators.Add("small kernels", small, 1);
  const Seconds product_time = products.time, layer_overhead = small.time, traffic_time = traffic.time,
                attention_time = attention.time;
  FIGURE(trace, micro_batch_time, product_time + layer_overhead + traffic_time + attention_time,
         (Note{"One micro-batch", ""}), product_time, layer_overhead, traffic_time, attention_time);
  return micro_batch_time;
}

}  // namespace

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  PassCost step;
  BindPipeline(deployment, trace);
  const double sequences = pass.sequences, tokens = pass.tokens,
               micro_batch = static_cast<double>(deployment.engine.layer_pipeline->micro_batch);
  FIGURE(trace, all_tokens, sequences * tokens, (Note{"Tokens of the pass", ""}), sequences, tokens);
  FIGURE(trace, rows, min(all_tokens, micro_batch), (Note{"Tokens of a micro-batch", ""}), all_tokens, micro_batch);
  const Seconds micro_batch_time = TimeMicroBatch(deployment, rows, tokens, pass.cached, step.operators, trace);
  const double pp = deployment.mapping.pp, hops = pp - 1;
  const Seconds hop = deployment.engine.layer_pipeline->prefill_hop;
  trace.Input("hop", hop, "serving.engine.layer_split.prefill_hop");
  FIGURE(trace, micro_batches, ceil(all_tokens / rows), (Note{"Micro-batches", ""}), all_tokens, rows);
  const Seconds through = PipelinedTime(deployment, micro_batches, micro_batch_time, trace);
  FIGURE(trace, pass_time, through + (pp - 1) * hop,
         (Note{"Prefill on the devices",
               "micro-batches are pipelined over the devices as far as the host can launch ahead"}),
         through, pp, hop);
  trace.Alias("occupancy", pass_time, "pass_time");
  trace.Alias("fixed_time", pass_time, "pass_time");
  FIGURE(trace, in_turn, through / micro_batch_time,
         (Note{"Micro-batches one after the other", "those that overlap on other devices do not count"}), through,
         micro_batch_time);
  step.operators.Repeat(trace.Carry("in_turn", Ratio(in_turn)));
  step.operators.Add(kStageSend, {hop, {}, {}, Bound::kNetwork, {}, {}}, hops);
  step.time = pass_time;
  step.occupancy = step.fixed = pass_time;
  return step;
}

}  // namespace slipstick
