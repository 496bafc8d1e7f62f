// Steps of llama.cpp before 2025: one stream, layers split over the devices, many small dependent kernels.
#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/engine_step/step_time.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// In-line ECC costs GDDR memory a tenth of its bandwidth and a sixteenth of its capacity; the usable capacity on the
// data sheet shows whether a device has it.
Ratio RateUnderEcc(const Device& device, const LayerPipeline& engine) {
  if (!device.memory.technology.starts_with("GDDR")) return 1;
  const Ratio gib_per_gb = In(1 * kGiB, kGB);
  const Bytes least_without = Figure("Least usable memory without in-line ECC",
                                     engine.usable_without_ecc * gib_per_gb * device.memory.capacity);
  return Figure("Share of the bandwidth under ECC",
                1 - engine.ecc_loss * (1 - min(1.0, floor(UsableMemory(device) / least_without))),
                "less where the usable memory shows that the device has it in line");
}

// With fp16 accumulation GeForce cards are twice as fast.
FlopsPerSecond MatrixPeak(const Deployment& deployment) {
  const std::optional<FlopsPerSecond>& narrow_sums = deployment.device.peak.fp16_accumulate;
  if (deployment.engine.layer_pipeline->fp16_accumulate && narrow_sums) return *narrow_sums;
  return PeakRate(deployment.device, Precision::kFp16);
}

bool IsQuantized(const Deployment& deployment) { return BytesPerElement(deployment.formats.mlp_weights) < 2; }

// Weights of all layers that a pass of `rows` tokens reads; for one row, the weights that a token uses.
Ratio LayerMatrices(const Model& model, const ParameterCount& count, Ratio rows) {
  if (!model.moe || model.moe->top_k >= model.moe->experts) return count.matrices;
  const Ratio experts(model.moe->experts), top_k(model.moe->top_k);
  const Ratio one_expert =
      Figure("Weights of an expert", (count.matrices - count.active_matrices) / (experts - top_k), "in all layers");
  const Ratio hit = Figure("Experts that get any of the rows", (1 - pow(1 - top_k / experts, rows)) * experts);
  return Figure("Weights that a pass reads", count.active_matrices + max(0.0, hit - top_k) * one_expert, "all layers");
}

// Fraction of a stage's time in which the host is blocked. The host launches stage after stage; if a stage has more
// kernels than the device's launch queue holds, the host waits until the rest fits, and launches nothing else.
Ratio HostHeld(const Deployment& deployment) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const Ratio stage_kernels =
      Figure("Kernel launches of a stage",
             deployment.layers.per_stage *
                 (IsQuantized(deployment) ? engine.kernels_per_quantized_layer : engine.kernels_per_layer));
  return Figure("Fraction of a stage that blocks the host", max(0.0, 1 - engine.launch_queue / stage_kernels),
                "launches beyond the device's queue");
}

// Time of all micro-batches through the pipeline, without the hops.
Seconds PipelinedTime(const Deployment& deployment, Ratio micro_batches, Seconds one) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const Ratio pp = deployment.mapping.pp;
  const Seconds alone = Figure("Micro-batches one after the other", micro_batches * one);
  if (pp <= 1) return alone;
  const Ratio in_flight =
      Figure("Micro-batches in flight", min(pp, Ratio(engine.max_in_flight)), "at most one per device");
  // A single micro-batch has no pipeline losses.
  const Ratio efficiency = in_flight > 1 ? engine.pipeline_efficiency : Ratio(1);
  const Ratio host_held = HostHeld(deployment);
  const Seconds pipelined =
      Figure("Micro-batches in a pipeline", (micro_batches + in_flight - 1) * one / (efficiency * in_flight));
  if (!(host_held > 0)) return Figure("All micro-batches", min(alone, pipelined), "the host launches ahead");
  const Seconds held =
      Figure("Micro-batches that wait for the host", one + (micro_batches - 1) * (pp - 1 + host_held) * one / pp);
  return Figure("All micro-batches", min(alone, max(held, pipelined)), "as far as the host launches ahead");
}

// Reads all weights of a decode step once.
KernelTime WeightsOperator(const Deployment& deployment, const ParameterCount& count, Ratio sequences) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const Device& device = deployment.device;
  const ElementSizes& sizes = deployment.formats.sizes;
  const Ratio hidden = deployment.shapes.hidden, vocab(deployment.model.vocab);
  const Ratio read = LayerMatrices(deployment.model, count, sequences);
  const Ratio multiplied = Figure("Weights that a token computes with",
                                  LayerMatrices(deployment.model, count, 1) + hidden * vocab, "with the LM head");
  const Stream data = SlowestStream(device);
  const Flops flops = Figure("FLOPs", 2 * kFlop * sequences * multiplied);
  const Bytes bytes = Figure("Weights read", read * sizes.mlp_weights + hidden * vocab * sizes.head_weights,
                             "of all layers and the LM head");
  const Ratio stream = Figure("Share of the memory bandwidth",
                              engine.bandwidth_efficiency * RateUnderEcc(device, engine), "of matrix-vector products");
  const BytesPerSecond from_memory = stream * data.bandwidth,
                       intake = engine.bytes_per_clock * kB * Ratio(device.units) * device.clock;
  const Seconds computing = flops / MatrixPeak(deployment);
  KernelTime kernel{Figure("Weights", max(bytes / min(from_memory, intake), computing),
                           "read once; bound by memory, by the SMs' input rate or by compute"),
                    {},
                    {},
                    Bound::kCompute,
                    flops,
                    bytes};
  const bool is_fed = intake < from_memory;
  if (kernel.time > computing) kernel.bound = is_fed ? Bound::kL1 : data.bound;
  if (is_fed) kernel.l1 = bytes / intake;
  return kernel;
}

// Attention of all layers in a decode step.
KernelTime CacheOperator(const Deployment& deployment, Ratio sequences, Ratio context) {
  const Model& model = deployment.model;
  const Ratio layers = deployment.layers.attention, heads(model.heads), kv_heads(model.kv_heads.value_or(model.heads)),
              head_dim = deployment.shapes.head_dim;
  const Stream data = SlowestStream(deployment.device);
  const Bytes half = 2 * kB;
  const Flops flops = Figure("FLOPs", 4 * kFlop * sequences * layers * heads * head_dim * context);
  const Bytes bytes =
      Figure("Keys and values", 2 * sequences * layers * kv_heads * head_dim * half * context, "each once");
  const Seconds time = Figure("KV cache",
                              max(2 * sequences * layers * heads * head_dim * half * context /
                                      (deployment.engine.layer_pipeline->kv_cache_bandwidth_ratio * data.bandwidth),
                                  bytes / data.bandwidth),
                              "every query head reads keys and values itself, partly from L2");
  return {time, {}, {}, data.bound, flops, bytes};
}

// Small kernels of all layers.
KernelTime SmallKernels(const Deployment& deployment) {
  return Waiting(
      Figure("Small kernels",
             deployment.layers.total * deployment.engine.layer_pipeline->clocks_per_layer / deployment.device.clock,
             "dependent, in every layer"));
}

// GEMMs of a micro-batch of `rows` tokens.
KernelTime ProductsOperator(const Deployment& deployment, const ParameterCount& count, Ratio rows) {
  const Flops flops = Figure("FLOPs", 2 * kFlop * LayerMatrices(deployment.model, count, 1) * rows);
  const Seconds time = Figure("GEMMs per micro-batch",
                              flops / (deployment.engine.layer_pipeline->gemm_efficiency * MatrixPeak(deployment)));
  return {time, {}, {}, Bound::kCompute, flops, {}};
}

// Attention of a micro-batch in all layers.
KernelTime AttentionOperator(const Deployment& deployment, Ratio rows, Ratio keys) {
  const Flops flops = Figure("FLOPs", 4 * kFlop * deployment.layers.attention * Ratio(deployment.model.heads) *
                                          deployment.shapes.head_dim * rows * keys);
  const Seconds time =
      Figure("Attention per micro-batch",
             flops / (deployment.engine.layer_pipeline->attention_efficiency * MatrixPeak(deployment)));
  return {time, {}, {}, Bound::kCompute, flops, {}};
}

// Memory traffic of a micro-batch outside its GEMMs.
KernelTime TrafficOperator(const Deployment& deployment, const ParameterCount& count, Ratio rows, Ratio keys) {
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  const Ratio read = IsQuantized(deployment) ? LayerMatrices(deployment.model, count, rows) : Ratio(0);
  const Stream data = SlowestStream(deployment.device);
  const Bytes bytes = Figure(
      "Memory traffic per micro-batch",
      deployment.layers.total * deployment.shapes.hidden * rows * (4 * engine.activation_passes * kB) +
          read * (engine.dequantized_bytes * kB) +
          deployment.layers.attention * Ratio(deployment.model.heads) * rows * keys * (4 * engine.score_passes * kB),
      "activations, dequantized weights, scores");
  const Seconds time = Figure("Time of the memory traffic per micro-batch", bytes / data.bandwidth);
  return {time, {}, {}, data.bound, {}, bytes};
}

// One micro-batch of `rows` tokens of the pass, through all layers.
Seconds TimeMicroBatch(const Deployment& deployment, const ParameterCount& count, const PrefillPass& pass, Ratio rows,
                       OperatorBreakdown& operators) {
  const Ratio keys =
      Figure("Keys of a query", max(rows, pass.cached + pass.tokens / 2), "mean; at least the micro-batch");
  const KernelTime products = ProductsOperator(deployment, count, rows),
                   attention = AttentionOperator(deployment, rows, keys),
                   traffic = TrafficOperator(deployment, count, rows, keys), small = SmallKernels(deployment);
  operators.Add("GEMMs", products, 1);
  operators.Add("attention", attention, 1);
  operators.Add("activations and weights through memory", traffic, 1);
  operators.Add("small kernels", small, 1);
  return Figure("One micro-batch", products.time + small.time + traffic.time + attention.time);
}

PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment) {
  const ParameterCount count = CountParameters(deployment.model);
  PassCost step;
  const KernelTime weights = WeightsOperator(deployment, count, pass.sequences),
                   attention = CacheOperator(deployment, pass.sequences, pass.context),
                   small = SmallKernels(deployment);
  const Seconds hops =
      Figure("Pipeline P2P", (deployment.mapping.pp - 1) * deployment.engine.layer_pipeline->decode_hop,
             "to the next devices");
  step.operators.Add("weights", weights, 1);
  step.operators.Add("attention", attention, 1);
  step.operators.Add("small kernels", small, 1);
  step.operators.Add(kStageSend, NetworkTime(hops), 1);
  step.time = Figure("Decode step", weights.time + attention.time + small.time + hops,
                     "weights, KV cache, small kernels, pipeline P2P");
  step.occupancy = step.time;
  return step;
}

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment) {
  const ParameterCount count = CountParameters(deployment.model);
  const LayerPipeline& engine = *deployment.engine.layer_pipeline;
  PassCost step;
  const Ratio all_tokens = Figure("Tokens of the pass", pass.sequences * pass.tokens);
  const Ratio rows = Figure("Tokens of a micro-batch", min(all_tokens, Ratio(engine.micro_batch)));
  const Seconds one = TimeMicroBatch(deployment, count, pass, rows, step.operators);
  const Ratio micro_batches = Figure("Micro-batches", all_tokens / rows, "the last one has the rest of the tokens");
  const Seconds through = PipelinedTime(deployment, micro_batches, one);
  const Ratio hops = deployment.mapping.pp - 1;
  step.time = Figure("Prefill on the devices", through + hops * engine.prefill_hop,
                     "micro-batches are pipelined over the devices as far as the host can launch ahead");
  step.operators.Repeat(
      Figure("Micro-batches one after the other", through / one, "those that overlap on other devices do not count"));
  step.operators.Add(kStageSend, NetworkTime(engine.prefill_hop), hops);
  step.occupancy = step.fixed = step.time;
  return step;
}

}  // namespace

constinit const StepComposition kLayerPipelinedSteps{
    .prefill = LayerPipelinedPrefill,
    .decode = LayerPipelinedDecode,
    .has_constants = [](const Engine& engine) { return engine.layer_pipeline.has_value(); },
    .tensor_parallel = false,
    .only_half_products = true};

}  // namespace slipstick
