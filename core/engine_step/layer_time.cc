#include "core/engine_step/layer_time.h"

#include <utility>

#include "core/base/sum.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/launches.h"
#include "core/engine_step/layer_parts.h"
#include "core/engine_step/served_product.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/named_terms.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

double ElementwiseLaunch(const Deployment& deployment, Trace& trace) {
  const double launch_share = deployment.engine.kernels.elementwise_launch;
  trace.Input("launch_share", launch_share, "serving.engine.element_launch");
  return launch_share;
}

// Operands still in L2 from the previous kernel are read at L2 bandwidth.
Seconds ElementwiseTime(const Deployment& deployment, Bytes bytes, Trace& trace) {
  const BytesPerSecond bandwidth = SlowestStream(deployment.device, trace).bandwidth;
  if (!(bytes > Bytes{})) {
    FIGURE(trace, move_time, bytes / bandwidth, (Note{"Time to move the data", "none"}), bytes, bandwidth);
    return move_time;
  }
  const double element_stream = deployment.engine.kernels.elementwise_bandwidth_efficiency;
  const Bytes l2_capacity = L2Capacity(deployment.device, trace);
  const BytesPerSecond l2_rate = L2Rate(deployment.device, trace);
  trace.Input("element_stream", element_stream, "serving.engine.element_stream");
  FIGURE(trace, missed, bytes / (bytes + 0.5 * l2_capacity),
         (Note{"Fraction that goes to memory", "the rest is in L2 from the kernel before"}), bytes, l2_capacity);
  FIGURE(trace, move_time, bytes * missed / (bandwidth * element_stream) + bytes * (1 - missed) / l2_rate,
         (Note{"Time to move the data", "at the engine's bandwidth efficiency"}), bytes, missed, bandwidth,
         element_stream, l2_rate);
  return move_time;
}

KernelTime LatentNorms(const Deployment& deployment, double rows, Trace& trace) {
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const double q_lora_rank = static_cast<double>(deployment.model.mla->q_lora_rank);
  const auto kv_lora_rank = static_cast<double>(deployment.model.mla->kv_lora_rank);
  const Trace::Scope scope(trace, "latent_norms");
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const double launch_share = ElementwiseLaunch(deployment, trace);
  FIGURE(trace, bytes, 4 * kB * rows * (q_lora_rank + kv_lora_rank),
         (Note{"Bytes of the norms", "read and written in 16 bit"}), rows, q_lora_rank, kv_lora_rank);
  const Seconds move_time = ElementwiseTime(deployment, bytes, trace);
  FIGURE(trace, time, 2 * launch_share * launch + move_time, (Note{"Norms of the latent vectors", "two kernels"}),
         launch_share, launch, move_time);
  KernelTime norms;
  norms.bytes = bytes;
  norms.time = time;
  norms.bound = Bound::kLatency;
  return norms;
}

// Batched GEMM over the heads, `rows` x outputs x inputs each: what remains of an up-projection absorbed into attention
// (MLA decode).
KernelTime AbsorbedProduct(const Deployment& deployment, double rows, double outputs, double inputs, Trace& trace) {
  const double rank_heads = deployment.shapes.widths.heads, stream = *deployment.device.efficiency.bandwidth_efficiency;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const FlopsPerSecond peak_rate = PeakRate(deployment.device, Precision::kBf16, trace);
  const Bytes half = 2.0 * kB;
  const double absorbed_matrix = deployment.device.architecture->step.absorbed_gemm_efficiency;
  BindEstimate("absorbed_matrix", absorbed_matrix, deployment.device, trace);
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  FIGURE(trace, flops, 2 * kFlop * rows * rank_heads * outputs * inputs, (Note{"FLOPs", ""}), rows, rank_heads, outputs,
         inputs);
  FIGURE(trace, bytes, (rank_heads * outputs * inputs + rows * rank_heads * (outputs + inputs)) * half,
         (Note{"Weights and activations", "in 16 bit"}), rank_heads, outputs, inputs, rows, half);
  FIGURE(trace, compute_time, flops / (absorbed_matrix * peak_rate),
         (Note{"Compute time", "at a share of the peak; estimate"}), flops, absorbed_matrix, peak_rate);
  FIGURE(trace, memory_time, bytes / (bandwidth * stream), (Note{"Time to move the data", ""}), bytes, bandwidth,
         stream);
  FIGURE(trace, time, launch + max(compute_time, memory_time),
         (Note{"Batched GEMM over the heads", "compute or memory"}), launch, compute_time, memory_time);
  return {time, compute_time, memory_time, compute_time > memory_time ? Bound::kCompute : data.bound, flops, bytes};
}

// Prefill computes keys and values from the latent; decode attends to the latent and absorbs the up-projections into
// two batched GEMMs.
void AddLatentOperators(const Deployment& deployment, const MatrixProduct& expansion, double rows, Phase phase,
                        const Adder& add, ListedSum<Seconds>& sum, Trace& trace) {
  const Mla& mla = *deployment.model.mla;
  const auto timed = [&](std::string_view symbol, std::string_view name, const KernelTime& kernel) {
    trace.Alias(symbol, kernel.time, "time");
    sum.Add(symbol, add(name, kernel, trace));
  };
  timed("latent_norms", "latent norms", LatentNorms(deployment, rows, trace));
  if (phase == Phase::kPrefill) {
    add(deployment, expansion, rows, sum, trace);
    return;
  }
  const auto absorbed = [&](std::string_view symbol, Count outputs, std::string_view outputs_are, Count inputs,
                            std::string_view inputs_are) {
    const Trace::Scope scope(trace, symbol);
    trace.Alias("outputs", static_cast<double>(outputs), outputs_are);
    trace.Alias("inputs", static_cast<double>(inputs), inputs_are);
    return AbsorbedProduct(deployment, rows, static_cast<double>(outputs), static_cast<double>(inputs), trace);
  };
  timed("absorbed_keys", "absorbed keys",
        absorbed("absorbed_keys", mla.kv_lora_rank, "kv_lora_rank", mla.nope_head_dim, "nope_head_dim"));
  timed("absorbed_values", "absorbed values",
        absorbed("absorbed_values", mla.value_head_dim, "value_head_dim", mla.kv_lora_rank, "kv_lora_rank"));
}

Seconds Projections(const Deployment& deployment, double rows, Phase phase, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  const MatrixProduct *queries = deployment.shapes.attention.Find(ProductId::kQueryDown),
                      *latent = deployment.shapes.attention.Find(ProductId::kKeyValueDown),
                      *expansion = deployment.shapes.attention.Find(ProductId::kKeyValueUp);
  for (MatrixProduct product : deployment.shapes.attention) {
    // Both down-projections of MLA read the residual stream: engines run them as one GEMM.
    if (product.id == ProductId::kQueryDown) product.outputs += latent->outputs;
    const bool is_joined = product.id == ProductId::kKeyValueDown && queries != nullptr;
    if (!is_joined && product.id != ProductId::kKeyValueUp) add(deployment, product, rows, sum, trace);
  }
  AddAdapters(deployment, deployment.shapes.attention, rows, add, sum, trace);
  if (!deployment.model.mla) return sum.Total("projections", {"Projections of attention"});
  AddLatentOperators(deployment, *expansion, rows, phase, add, sum, trace);
  return sum.Total("projections",
                   {"Projections of latent attention",
                    "prefill computes keys and values; decode absorbs their projection into queries and outputs",
                    "DeepSeek-V2, arXiv 2405.04434"});
}

// Of a layer with attention: where local layers have heads of their own, the mean over both kinds.
Seconds MeanProjections(const Deployment& deployment, double rows, Phase phase, OperatorBreakdown& operators,
                        Trace& trace) {
  const double attention_layers = deployment.layers.attention, full_layers = deployment.layers.full,
               window_layers = deployment.layers.window;
  if (deployment.model.SharesKv()) return SharedKvProjections(deployment, rows, operators, trace);
  if (!deployment.model.HasWindowHeads())
    return Projections(deployment, rows, phase, Adder{operators, attention_layers, "attention_layers"}, trace);
  const Seconds full = full_layers > 0
                           ? Projections(deployment, rows, phase, Adder{operators, full_layers, "full_layers"}, trace)
                           : Seconds{};
  if (full_layers > 0) trace.Alias("full", full, "projections");
  const Trace::Scope scope(trace, "local");
  ListedSum<Seconds> sum(trace);
  const Adder add{operators, window_layers, "window_layers"};
  for (const MatrixProduct& product : deployment.shapes.window_attention) add(deployment, product, rows, sum, trace);
  AddAdapters(deployment, deployment.shapes.window_attention, rows, add, sum, trace);
  const Seconds local = sum.Total("local", {"Projections of local attention"});
  constexpr Note kNote{"Projections of attention", "mean over layers with a sliding window and without"};
  if (full_layers <= 0) {
    FIGURE(trace, projections, 1 * local, kNote, local);
    return projections;
  }
  FIGURE(trace, projections, (full_layers * full + window_layers * local) / attention_layers, kNote, full_layers, full,
         window_layers, local, attention_layers);
  return projections;
}

Seconds RecurrentProjections(const Deployment& deployment, double rows, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : deployment.shapes.recurrence) add(deployment, product, rows, sum, trace);
  return sum.Total("recurrent", {"Projections of a recurrent layer"});
}

void ExpertMlp(const Deployment& deployment, double rows, Phase phase, const Adder& add, LayerCost& layer,
               Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    if (product.id == ProductId::kExpertsOut) continue;   // timed with kExpertsIn
    if (product.id == ProductId::kLayerInputs) continue;  // for all layers at once
    if (product.id != ProductId::kExpertsIn) {
      add(deployment, product, rows, sum, trace);
      continue;
    }
    const RoutedExperts own = Routed(deployment, rows, phase, trace);
    const ServedProduct& served = ServedAs(product.id);
    const bool has_host = deployment.load.host_experts.has_value();
    const Seconds time = has_host ? TimeHostExperts(deployment, rows, own.experts, served.name, add, trace)
                                  : add(served.name, own.experts, trace);
    if (has_host) trace.Alias("time", time, "mean_experts");
    trace.Record(served.symbol, "time", time, Note{served.title, served.note}, "time", time);
    sum.Add(served.symbol, time);
    layer.dispatch = own.traffic.dispatch;
    layer.combine = own.traffic.combine;
  }
  layer.experts = sum.Total("experts", {"Experts", "without dispatch and combine"});
}

// Columns that activation functions pass over, mean over the layers.
double MeanInner(const Deployment& deployment, Trace& trace) {
  const double rank_mlp = deployment.shapes.widths.mlp, dense_layers = deployment.layers.dense,
               layers = deployment.layers.total, shared_kv_layers = deployment.layers.shared_kv;
  constexpr Note kNote{"Inner width of the MLP", "and of a layer's embedding, on one device, mean over the layers"};
  const double layer_embedding = static_cast<double>(deployment.model.layer_embeddings.width);
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  if (!deployment.model.SharesKv()) {
    FIGURE(trace, mean_inner, rank_mlp * (dense_layers - shared_kv_layers) / layers + layer_embedding, kNote, rank_mlp,
           dense_layers, shared_kv_layers, layers, layer_embedding);
    return mean_inner;
  }
  const double rank_shared_kv_mlp = deployment.shapes.widths.shared_kv_mlp;
  FIGURE(
      trace, mean_inner,
      (rank_mlp * (dense_layers - shared_kv_layers) + rank_shared_kv_mlp * shared_kv_layers) / layers + layer_embedding,
      kNote, rank_mlp, dense_layers, shared_kv_layers, rank_shared_kv_mlp, layers, layer_embedding);
  return mean_inner;
}

// Norms, residual and activation in separate kernels: `norms` with a residual addition, `own_norms` without. The
// activation of experts is part of their kernels.
KernelTime Elementwise(const Deployment& deployment, double rows, double norms, double own_norms, double kernels,
                       Trace& trace) {
  const double hidden = deployment.shapes.hidden, tp = deployment.mapping.tp;
  const double mean_inner = MeanInner(deployment, trace);
  const double activation_bytes = ActivationOf(deployment.model).forward,
               element_bytes = deployment.engine.kernels.elementwise_bytes;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("activation_bytes", activation_bytes, "model.gated");
  const double launch_share = ElementwiseLaunch(deployment, trace);
  const auto timed = [&](std::string_view name, std::string_view time_is, std::string_view bytes_are,
                         const auto& bytes_of) {
    const auto [bytes, time] = [&] {
      const Trace::Scope scope(trace, name);
      const Bytes own_bytes = bytes_of();
      return std::pair{own_bytes, ElementwiseTime(deployment, own_bytes, trace)};
    }();
    trace.Alias(time_is, time, "move_time");
    trace.Alias(bytes_are, bytes, "bytes");
    return std::pair{bytes, time};
  };
  const auto [norm_bytes, norm_time] = timed("norm", "norm_time", "norm_bytes", [&] {
    if (deployment.model.compressed) {
      const auto streams = static_cast<double>(deployment.model.compressed->streams);
      trace.Input("streams", streams, "model.compressed.streams");
      FIGURE(trace, bytes, (6 * streams + 4) * kB * rows * hidden,
             (Note{"Bytes of a norm",
                   "with the residual streams, read to be mixed and again to be added to, and written"}),
             streams, rows, hidden);
      return bytes;
    }
    FIGURE(trace, bytes, 6 * kB * rows * hidden, (Note{"Bytes of a norm", "with the residual addition"}), rows, hidden);
    return bytes;
  });
  const auto [own_norm_bytes, own_norm_time] = timed("own_norm", "own_norm_time", "own_norm_bytes", [&] {
    FIGURE(trace, bytes, 4 * kB * rows * hidden, (Note{"Bytes of a norm", "without an addition"}), rows, hidden);
    return bytes;
  });
  const auto [activated_bytes, activation_time] = timed("activation", "activation_time", "activated_bytes", [&] {
    FIGURE(trace, bytes, activation_bytes * kB * rows * mean_inner, (Note{"Bytes of the activation", ""}),
           activation_bytes, rows, mean_inner);
    return bytes;
  });
  const auto [extra_bytes, extra_time] = timed("extra", "extra_time", "extra_bytes", [&] {
    FIGURE(trace, bytes, element_bytes * kB * rows * hidden / tp,
           (Note{"Bytes of further passes", "bias and transpose"}), element_bytes, rows, hidden, tp);
    return bytes;
  });
  FIGURE(trace, elementwise,
         kernels * launch_share * launch + norms * norm_time + own_norms * own_norm_time + activation_time + extra_time,
         (Note{"Norms, residual and activation",
               "a launch latency per kernel; data not in L2 at the engine's bandwidth efficiency"}),
         kernels, launch_share, launch, norms, norm_time, own_norms, own_norm_time, activation_time, extra_time);
  FIGURE(trace, bytes, norms * norm_bytes + own_norms * own_norm_bytes + activated_bytes + extra_bytes,
         (Note{"Memory traffic of norms, residual and activation", ""}), norms, norm_bytes, own_norms, own_norm_bytes,
         activated_bytes, extra_bytes);
  KernelTime kernel;
  kernel.time = elementwise;
  kernel.bytes = bytes;
  kernel.bound = kernels * launch_share * launch > elementwise / 2 ? Bound::kLatency
                                                                   : SlowestStream(deployment.device, trace).bound;
  return kernel;
}

// Norms with a residual addition and without, and kernels of a layer that pass over rows. A layer's embedding adds the
// norm of its output, with an addition, and the activation of its gate.
struct NormKernels {
  double norms = 0, own_norms = 0, kernels = 0;
};
NormKernels NormKernelsOf(const Deployment& deployment, double halves, Trace& trace) {
  constexpr Note kNote{"Norm, residual and activation kernels of a layer",
                       "an engine without any launches none for further norms"};
  const double own_norms = NormsBeforeAdditions(deployment.model, trace),
               element_kernels = deployment.engine.kernels.elementwise_kernels;
  if (deployment.model.layer_embeddings.width == 0) {
    trace.Alias("norms", halves, "halves");
    FIGURE(trace, kernels, max(0.0, element_kernels - (2 - halves)) + min(1.0, element_kernels) * own_norms, kNote,
           element_kernels, halves, own_norms);
    return {halves, own_norms, kernels};
  }
  FIGURE(trace, norms, halves + 1, (Note{"Norms with a residual addition", "one of them of the layer's embedding"}),
         halves);
  FIGURE(trace, kernels, max(0.0, element_kernels - (2 - halves)) + min(1.0, element_kernels) * (own_norms + 2), kNote,
         element_kernels, halves, own_norms);
  return {norms, own_norms, kernels};
}

// All-reduces of a layer: after attention and after the MLP.
ExchangeCost Reduction(const Deployment& deployment, double rows, bool waits_for_host, Trace& trace) {
  const Trace::Scope scope(trace, "all_reduce");
  const Bytes bytes = ResidualBytes(deployment.model, rows, "rows", trace);
  trace.Alias("bytes", bytes, "residual_bytes");
  return AllReduce(deployment, bytes, waits_for_host, trace);
}

}  // namespace

LayerCost TimeLayer(const Deployment& deployment, double rows, Phase phase, OperatorBreakdown& operators,
                    Trace& trace) {
  const Trace::Scope scope(trace, "layer");
  const double dense = deployment.layers.dense;
  const Adder every_layer{operators, deployment.layers.total, "layers"};
  LayerCost layer;
  if (deployment.layers.attention > 0) layer.projections = MeanProjections(deployment, rows, phase, operators, trace);
  if (deployment.layers.recurrent > 0)
    layer.recurrent = RecurrentProjections(deployment, rows,
                                           Adder{operators, deployment.layers.recurrent, "recurrent_layers"}, trace);
  if (dense > 0) layer.mlp = MlpOf(deployment, rows, operators, trace);
  if (deployment.model.layer_embeddings.width > 0)
    layer.inputs = LayerInputs(deployment, rows, phase, operators, trace);
  if (deployment.model.moe)
    ExpertMlp(deployment, rows, phase, Adder{operators, deployment.layers.moe, "moe_layers"}, layer, trace);
  // Parallel attention and MLP share a norm, a residual addition and an all-reduce.
  const double halves = ResidualAdditions(deployment.model);
  trace.Input("halves", halves, "model.parallel_attention");
  const auto [norms, own_norms, kernels] = NormKernelsOf(deployment, halves, trace);
  layer.elementwise = every_layer("norms, activation, residual",
                                  Elementwise(deployment, rows, norms, own_norms, kernels, trace), trace);

  const ExchangeCost reduction =
      Reduction(deployment, rows, phase == Phase::kDecode && !deployment.launch.graphs, trace);
  operators.Add("all-reduce", reduction.kernel, halves * deployment.layers.total);
  if (deployment.mapping.devices_per_group > 1) {
    const Seconds reduction_time = reduction.kernel.time;
    FIGURE(trace, reductions, halves * reduction_time,
           (Note{"All-reduces per layer", "after attention and after the MLP"}), halves, reduction_time);
    layer.reductions = reductions;
  }
  const LayerLaunches launches =
      LaunchesOf(deployment, rows, phase, {halves, kernels, reduction.launched_apart}, trace);
  layer.operations = launches.operations;
  KernelTime idle;
  idle.time = launches.gaps;
  idle.bound = Bound::kLatency;
  layer.gaps = every_layer("launch overhead", idle, trace);
  return layer;
}

Seconds TimeHead(const Deployment& deployment, double rows, bool waits_for_host, OperatorBreakdown& operators,
                 Trace& trace) {
  const Trace::Scope scope(trace, "head");
  const KernelTime product =
      TimeProduct(deployment, HeadProduct(deployment.model, deployment.shapes.widths), rows, trace);
  const Seconds output_matrix = product.time;
  const double rank_vocab = deployment.shapes.widths.vocab;
  const Bytes logit = 8 * kB;
  CONSTANTS(trace, "serving.sampling", "fp32, written and read; of a rank's maximum the value and its place", logit);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  FIGURE(trace, bytes, logit * rows, (Note{"Maxima that the ranks exchange", ""}), logit, rows);
  const Seconds gathered = AllReduce(deployment, bytes, waits_for_host, trace).kernel.time;
  FIGURE(trace, logit_bytes, logit * rows * rank_vocab, (Note{"Logits", "in fp32, written and read"}), logit, rows,
         rank_vocab);
  const double logit_stream = deployment.engine.kernels.logit_bandwidth_efficiency;
  trace.Input("logit_stream", logit_stream, "serving.engine.logit_stream");
  FIGURE(trace, logits_time, logit_bytes / (logit_stream * bandwidth), (Note{"Time to write and read the logits", ""}),
         logit_bytes, logit_stream, bandwidth);
  trace.Alias("gathered", gathered, "reduction_time");
  ListedSum<Seconds> sampling(trace);
  sampling.Add("logits_time", logits_time);
  sampling.Add("gathered", gathered);
  const Seconds token_choice = sampling.Total("token_choice", {"Sampling", "with the ranks' exchange of their maxima"});
  KernelTime choice;
  choice.bytes = logit_bytes;
  choice.memory = choice.time = token_choice;
  choice.bound = data.bound;
  operators.Add("LM head", product, 1, "", trace);
  trace.Alias("bytes", logit_bytes, "logit_bytes");
  operators.Add("sampling", choice, 1, "", trace);
  FIGURE(trace, head, output_matrix + token_choice, (Note{"LM head and sampling", ""}), output_matrix, token_choice);
  return head;
}

}  // namespace slipstick
