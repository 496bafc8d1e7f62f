#include "core/serving/layer_split.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Memory with the check bits of its ECC in line gives a tenth of its rate to them, and a sixteenth of its capacity: that is
// how a data sheet shows it.
double RateUnderEcc(const Device& device) {
  const bool discrete = device.memory.technology.rfind("GDDR", 0) == 0;
  const double nominal = In(device.memory.capacity, kGB);
  return discrete && In(UsableMemory(device), kGiB) < 0.945 * nominal ? 0.9 : 1;
}

// cuBLAS keeps the sums of fp16 products in fp16 where it is asked to: GeForce cards are twice as fast then.
FlopsPerSecond MatrixPeak(const Deployment& d, Trace& trace) {
  const std::optional<FlopsPerSecond>& narrow_sums = d.device.peak.fp16_accumulate;
  if (!d.engine.layer_pipeline->fp16_accumulate || !narrow_sums) return PeakRate(d.device, Precision::kFp16, trace);
  trace.Input("peak_rate", *narrow_sums, "cluster.device.peak.fp16_accumulate");
  return *narrow_sums;
}

bool IsQuantized(const Deployment& d) { return BytesPerElement(d.mlp_weights) < 2; }

// Weights of the layers: those a token computes with, and those a pass of `rows` reads.
double LayerMatrices(const Deployment& d, double rows) {
  const ParameterCount count = CountParameters(d.model);
  if (!d.model.moe || d.model.moe->top_k >= d.model.moe->experts) return count.matrices;
  const auto experts = static_cast<double>(d.model.moe->experts), chosen = static_cast<double>(d.model.moe->top_k);
  const double hit = (1 - pow(1 - chosen / experts, rows)) * experts;
  const double expert = (count.matrices - count.active_matrices) / (experts - chosen);
  return count.active_matrices + max(0.0, hit - chosen) * expert;
}

}  // namespace

PassCost LayerSplitDecode(const DecodePass& pass, const Deployment& d, Trace& trace) {
  const LayerPipeline& engine = *d.engine.layer_pipeline;
  PassCost step;
  const double sequences = pass.sequences, context = pass.context;
  const double layers = d.layers, attending = d.attention_layers, heads = static_cast<double>(d.model.heads), head_dim = d.head_dim;
  const Bytes element = ElementSize(d.mlp_weights);
  const double head_matrix = d.hidden * static_cast<double>(d.model.vocab);
  const double matrices = LayerMatrices(d, sequences) + head_matrix, multiplied = LayerMatrices(d, 1) + head_matrix;
  const Flops pair = 2 * kFlop;
  const FlopsPerSecond peak_rate = MatrixPeak(d, trace);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const double stream = engine.bandwidth_efficiency * RateUnderEcc(d.device);
  const double units = static_cast<double>(d.device.units);
  const Hertz clock = d.device.clock;
  const Bytes per_clock = engine.bytes_per_clock * kB;
  const double clocks = engine.clocks_per_layer;
  const double cache_stream =
      L2Capacity(d.device) > engine.large_l2 ? engine.kv_cache_bandwidth_ratio_large_l2 : engine.kv_cache_bandwidth_ratio;
  FIGURE(trace, weight_time,
         max(matrices * element / min(stream * bandwidth, per_clock * units * clock), pair * sequences * multiplied / peak_rate),
         (Note{"Weights", "read once, as fast as memory, the units' intake and the arithmetic on them allow"}), matrices, element, stream,
         bandwidth, per_clock, units, clock, pair, sequences, multiplied, peak_rate);
  const Bytes half = 2.0 * kB;
  const double kv_heads = static_cast<double>(d.model.KvHeads());
  FIGURE(trace, cache_time,
         max(2 * sequences * attending * heads * head_dim * half * context / (cache_stream * bandwidth),
             2 * sequences * attending * kv_heads * head_dim * half * context / bandwidth),
         (Note{"Cache", "every query head reads keys and values for itself, partly from the last cache"}), sequences, attending, heads,
         head_dim, half, context, cache_stream, bandwidth, kv_heads);
  FIGURE(trace, layer_overhead, layers * clocks / clock, (Note{"Small kernels", "that wait for each other, in every layer"}), layers,
         clocks, clock);
  const double hops = d.pp - 1;
  const Seconds hop = engine.decode_hop;
  FIGURE(trace, hop_time, hops * hop, (Note{"To the next devices", ""}), hops, hop);
  FIGURE(trace, step_time, weight_time + cache_time + layer_overhead + hop_time, (Note{"Decode step", "one token after the other"}),
         weight_time, cache_time, layer_overhead, hop_time);
  const auto add = [&](std::string_view name, Seconds time, Bound bound, Flops flops, Bytes bytes) {
    step.parts.Add(name, {time, {}, {}, bound, flops, bytes}, 1);
  };
  const Flops products = pair * sequences * multiplied;
  add("weights", weight_time, weight_time > products / peak_rate ? Bound::kMemory : Bound::kCompute, products, matrices * element);
  add("attention", cache_time, Bound::kMemory, 4 * kFlop * sequences * attending * heads * head_dim * context,
      sequences * 2 * attending * kv_heads * head_dim * half * context);
  add("small kernels", layer_overhead, Bound::kLatency, {}, {});
  add("next devices", hop_time, Bound::kNetwork, {}, {});
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

PassCost LayerSplitPrefill(const PrefillPass& pass, const Deployment& d, Trace& trace) {
  const LayerPipeline& engine = *d.engine.layer_pipeline;
  PassCost step;
  const double tokens = pass.sequences * pass.tokens;
  const double rows = min(tokens, static_cast<double>(engine.micro_batch));
  const double layers = d.layers, attending = d.attention_layers, heads = static_cast<double>(d.model.heads), head_dim = d.head_dim,
               hidden = d.hidden;
  const double matrices = LayerMatrices(d, 1), read = IsQuantized(d) ? LayerMatrices(d, rows) : 0;
  const FlopsPerSecond peak_rate = MatrixPeak(d, trace);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const double matrix = engine.gemm_efficiency, attention = engine.attention_efficiency;
  const double clocks = engine.clocks_per_layer;
  const Hertz clock = d.device.clock;
  const Bytes passes = 4 * engine.activation_passes * kB, unpacked = engine.dequantized_bytes * kB;
  const Bytes score = 4 * (L2Capacity(d.device) > engine.large_l2 ? engine.score_bytes_large_l2 : engine.score_bytes) * kB;
  const Flops pair = 2 * kFlop;
  const double keys = max(rows, pass.cached + pass.tokens / 2);
  FIGURE(trace, product_time, pair * matrices * rows / (matrix * peak_rate), (Note{"Matrix products of a micro-batch", ""}), pair, matrices,
         rows, matrix, peak_rate);
  FIGURE(trace, layer_overhead, layers * clocks / clock, (Note{"Small kernels", "that wait for each other, in every layer"}), layers,
         clocks, clock);
  FIGURE(trace, traffic_time, (layers * hidden * rows * passes + read * unpacked + attending * heads * rows * keys * score) / bandwidth,
         (Note{"Memory traffic of a micro-batch", "activations, unpacked weights, scores"}), layers, hidden, rows, passes, read, unpacked,
         attending, heads, keys, score, bandwidth);
  FIGURE(trace, attention_time, 2 * pair * attending * heads * head_dim * rows * keys / (attention * peak_rate),
         (Note{"Attention of a micro-batch", ""}), pair, attending, heads, head_dim, rows, keys, attention, peak_rate);
  FIGURE(trace, micro_batch_time, product_time + layer_overhead + traffic_time + attention_time, (Note{"One micro-batch", ""}),
         product_time, layer_overhead, traffic_time, attention_time);
  const double micro_batches = ceil(tokens / rows);
  const double in_flight = min(d.pp, static_cast<double>(engine.max_in_flight));
  const double pipeline = in_flight > 1 ? engine.pipeline_efficiency : 1;
  const double hops = d.pp - 1;
  const Seconds hop = engine.prefill_hop;
  // The host launches stage after stage. A stage of more kernels than a device's queue holds keeps it until all but the
  // queue's have run, and no other micro-batch is launched meanwhile.
  const double stage_kernels = d.stage_layers * (IsQuantized(d) ? engine.kernels_per_quantized_layer : engine.kernels_per_layer);
  const double launch_queue = engine.launch_queue, stages = d.pp;
  FIGURE(trace, host_held, max(0.0, 1 - launch_queue / stage_kernels),
         (Note{"Share of a stage that the host waits for", "launches beyond the device's queue"}), launch_queue, stage_kernels);
  const Seconds pipelined = (micro_batches + in_flight - 1) * micro_batch_time / (pipeline * in_flight);
  const Seconds held = micro_batch_time + (micro_batches - 1) * (stages - 1 + host_held) * micro_batch_time / stages;
  const Seconds alone = micro_batches * micro_batch_time;
  const Seconds through = min(alone, host_held > 0 ? max(held, pipelined) : pipelined);
  FIGURE(trace, pass_time, through + hops * hop,
         (Note{"Prefill on the devices", "micro-batches follow each other through the devices, as far as the host runs ahead"}), through,
         hops, hop);
  // Micro-batches on other devices meanwhile take no time of the pass.
  const double in_turn = through / micro_batch_time;
  const auto add = [&](std::string_view name, Seconds time, Bound bound, Flops flops, Bytes bytes) {
    step.parts.Add(name, {time, {}, {}, bound, flops, bytes}, in_turn);
  };
  add("matrix products", product_time, Bound::kCompute, pair * matrices * rows, {});
  add("attention", attention_time, Bound::kCompute, 2 * pair * attending * heads * head_dim * rows * keys, {});
  add("activations and weights through memory", traffic_time, Bound::kMemory, {}, traffic_time * bandwidth);
  add("small kernels", layer_overhead, Bound::kLatency, {}, {});
  step.parts.Add("next device", {hop, {}, {}, Bound::kNetwork, {}, {}}, hops);
  step.time = pass_time;
  step.occupancy = pass_time;
  return step;
}

}  // namespace slipstick
