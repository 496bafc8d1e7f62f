#include "core/serving/layer_pipelined.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// In-line ECC costs GDDR memory a tenth of its bandwidth and a sixteenth of its capacity; the usable capacity on the data sheet shows
// whether a device has it.
double RateUnderEcc(const Device& device) {
  const bool discrete = device.memory.technology.rfind("GDDR", 0) == 0;
  const double nominal = In(device.memory.capacity, kGB);
  return discrete && In(UsableMemory(device), kGiB) < 0.945 * nominal ? 0.9 : 1;
}

// With fp16 accumulation GeForce cards are twice as fast.
FlopsPerSecond MatrixPeak(const Deployment& deployment, Trace& trace) {
  const std::optional<FlopsPerSecond>& narrow_sums = deployment.device.peak.fp16_accumulate;
  if (!deployment.engine.layer_pipeline->fp16_accumulate || !narrow_sums) return PeakRate(deployment.device, Precision::kFp16, trace);
  trace.Input("peak_rate", *narrow_sums, "cluster.device.peak.fp16_accumulate");
  return *narrow_sums;
}

bool IsQuantized(const Deployment& deployment) { return BytesPerElement(deployment.formats.mlp_weights) < 2; }

// Weights of all layers that a pass of `rows` tokens reads; of one row: those that a token computes with.
double LayerMatrices(const Deployment& deployment, double rows) {
  const ParameterCount count = CountParameters(deployment.model);
  if (!deployment.model.moe || deployment.model.moe->top_k >= deployment.model.moe->experts) return count.matrices;
  const auto experts = static_cast<double>(deployment.model.moe->experts), chosen = static_cast<double>(deployment.model.moe->top_k);
  const double hit = (1 - pow(1 - chosen / experts, rows)) * experts;
  const double expert = (count.matrices - count.active_matrices) / (experts - chosen);
  return count.active_matrices + max(0.0, hit - chosen) * expert;
}

// Time of all micro-batches through the pipeline, without the hops.
Seconds PipelinedTime(const Deployment& deployment, double micro_batches, Seconds micro_batch_time, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const double in_flight = min(deployment.mapping.pp, static_cast<double>(engine.max_in_flight));
  const double pipeline = in_flight > 1 ? engine.pipeline_efficiency : 1;
  // The host launches stage after stage. A stage with more kernels than the device's launch queue blocks the host until all but a
  // queue's worth have run; meanwhile no other micro-batch is launched.
  const double stage_kernels =
      deployment.layers.per_stage * (IsQuantized(deployment) ? engine.kernels_per_quantized_layer : engine.kernels_per_layer);
  const double launch_queue = engine.launch_queue, stages = deployment.mapping.pp;
  FIGURE(trace, host_held, max(0.0, 1 - launch_queue / stage_kernels),
         (Note{"Fraction of a stage that blocks the host", "launches beyond the device's queue"}), launch_queue, stage_kernels);
  const Seconds pipelined = (micro_batches + in_flight - 1) * micro_batch_time / (pipeline * in_flight);
  const Seconds held = micro_batch_time + (micro_batches - 1) * (stages - 1 + host_held) * micro_batch_time / stages;
  const Seconds alone = micro_batches * micro_batch_time;
  return min(alone, host_held > 0 ? max(held, pipelined) : pipelined);
}

}  // namespace

PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  PassCost step;
  const double sequences = pass.sequences, context = pass.context;
  const double layers = deployment.layers.total, attending = deployment.layers.attention,
               heads = static_cast<double>(deployment.model.heads), head_dim = deployment.shapes.head_dim;
  const Bytes element = ElementSize(deployment.formats.mlp_weights);
  const double head_matrix = deployment.shapes.hidden * static_cast<double>(deployment.model.vocab);
  const double matrices = LayerMatrices(deployment, sequences) + head_matrix, multiplied = LayerMatrices(deployment, 1) + head_matrix;
  const Flops pair = 2 * kFlop;
  const FlopsPerSecond peak_rate = MatrixPeak(deployment, trace);
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const double stream = engine.bandwidth_efficiency * RateUnderEcc(deployment.device);
  const double units = static_cast<double>(deployment.device.units);
  const Hertz clock = deployment.device.clock;
  const Bytes per_clock = engine.bytes_per_clock * kB;
  const double clocks = engine.clocks_per_layer;
  const double cache_stream =
      L2Capacity(deployment.device) > engine.large_l2 ? engine.kv_cache_bandwidth_ratio_large_l2 : engine.kv_cache_bandwidth_ratio;
  FIGURE(trace, weight_time,
         max(matrices * element / min(stream * bandwidth, per_clock * units * clock), pair * sequences * multiplied / peak_rate),
         (Note{"Weights", "read once; bound by memory, by the SMs' input rate or by compute"}), matrices, element, stream, bandwidth,
         per_clock, units, clock, pair, sequences, multiplied, peak_rate);
  const Bytes half = 2.0 * kB;
  const double kv_heads = static_cast<double>(deployment.model.KvHeads());
  FIGURE(trace, kv_cache_time,
         max(2 * sequences * attending * heads * head_dim * half * context / (cache_stream * bandwidth),
             2 * sequences * attending * kv_heads * head_dim * half * context / bandwidth),
         (Note{"KV cache", "every query head reads keys and values itself, partly from L2"}), sequences, attending, heads, head_dim, half,
         context, cache_stream, bandwidth, kv_heads);
  FIGURE(trace, layer_overhead, layers * clocks / clock, (Note{"Small kernels", "dependent, in every layer"}), layers, clocks, clock);
  const double hops = deployment.mapping.pp - 1;
  const Seconds hop = engine.decode_hop;
  FIGURE(trace, hop_time, hops * hop, (Note{"Pipeline P2P", "to the next devices"}), hops, hop);
  FIGURE(trace, step_time, weight_time + kv_cache_time + layer_overhead + hop_time,
         (Note{"Decode step", "weights, KV cache, small kernels, pipeline P2P"}), weight_time, kv_cache_time, layer_overhead, hop_time);
  const auto add = [&](std::string_view name, Seconds time, Bound bound, Flops flops, Bytes bytes) {
    step.operators.Add(name, {time, {}, {}, bound, flops, bytes}, 1);
  };
  const Flops products = pair * sequences * multiplied;
  add("weights", weight_time, weight_time > products / peak_rate ? Bound::kMemory : Bound::kCompute, products, matrices * element);
  add("attention", kv_cache_time, Bound::kMemory, 4 * kFlop * sequences * attending * heads * head_dim * context,
      sequences * 2 * attending * kv_heads * head_dim * half * context);
  add("small kernels", layer_overhead, Bound::kLatency, {}, {});
  add("pipeline P2P", hop_time, Bound::kNetwork, {}, {});
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  PassCost step;
  const double tokens = pass.sequences * pass.tokens;
  const double rows = min(tokens, static_cast<double>(engine.micro_batch));
  const double layers = deployment.layers.total, attending = deployment.layers.attention,
               heads = static_cast<double>(deployment.model.heads), head_dim = deployment.shapes.head_dim,
               hidden = deployment.shapes.hidden;
  const double matrices = LayerMatrices(deployment, 1), read = IsQuantized(deployment) ? LayerMatrices(deployment, rows) : 0;
  const FlopsPerSecond peak_rate = MatrixPeak(deployment, trace);
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const double matrix = engine.gemm_efficiency, attention = engine.attention_efficiency;
  const double clocks = engine.clocks_per_layer;
  const Hertz clock = deployment.device.clock;
  const Bytes passes = 4 * engine.activation_passes * kB, unpacked = engine.dequantized_bytes * kB;
  const Bytes score = 4 * (L2Capacity(deployment.device) > engine.large_l2 ? engine.score_bytes_large_l2 : engine.score_bytes) * kB;
  const Flops pair = 2 * kFlop;
  const double keys = max(rows, pass.cached + pass.tokens / 2);
  FIGURE(trace, product_time, pair * matrices * rows / (matrix * peak_rate), (Note{"GEMMs per micro-batch", ""}), pair, matrices, rows,
         matrix, peak_rate);
  FIGURE(trace, layer_overhead, layers * clocks / clock, (Note{"Small kernels", "dependent, in every layer"}), layers, clocks, clock);
  FIGURE(trace, traffic_time, (layers * hidden * rows * passes + read * unpacked + attending * heads * rows * keys * score) / bandwidth,
         (Note{"Memory traffic per micro-batch", "activations, dequantized weights, scores"}), layers, hidden, rows, passes, read, unpacked,
         attending, heads, keys, score, bandwidth);
  FIGURE(trace, attention_time, 2 * pair * attending * heads * head_dim * rows * keys / (attention * peak_rate),
         (Note{"Attention per micro-batch", ""}), pair, attending, heads, head_dim, rows, keys, attention, peak_rate);
  FIGURE(trace, micro_batch_time, product_time + layer_overhead + traffic_time + attention_time, (Note{"One micro-batch", ""}),
         product_time, layer_overhead, traffic_time, attention_time);
  const double hops = deployment.mapping.pp - 1;
  const Seconds hop = engine.prefill_hop;
  const Seconds through = PipelinedTime(deployment, ceil(tokens / rows), micro_batch_time, trace);
  FIGURE(trace, pass_time, through + hops * hop,
         (Note{"Prefill on the devices", "micro-batches are pipelined over the devices as far as the host can launch ahead"}), through,
         hops, hop);
  // Micro-batches that overlap on other devices do not count.
  const double in_turn = through / micro_batch_time;
  const auto add = [&](std::string_view name, Seconds time, Bound bound, Flops flops, Bytes bytes) {
    step.operators.Add(name, {time, {}, {}, bound, flops, bytes}, in_turn);
  };
  add("GEMMs", product_time, Bound::kCompute, pair * matrices * rows, {});
  add("attention", attention_time, Bound::kCompute, 2 * pair * attending * heads * head_dim * rows * keys, {});
  add("activations and weights through memory", traffic_time, Bound::kMemory, {}, traffic_time * bandwidth);
  add("small kernels", layer_overhead, Bound::kLatency, {}, {});
  step.operators.Add("pipeline P2P", {hop, {}, {}, Bound::kNetwork, {}, {}}, hops);
  step.time = pass_time;
  step.occupancy = pass_time;
  return step;
}

}  // namespace slipstick
