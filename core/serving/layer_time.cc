#include "core/serving/layer_time.h"

#include <array>

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/serving/exchange.h"
#include "core/serving/memo.h"

namespace slipstick {
namespace {

// Bandwidth efficiency of four-bit experts over that of GEMMs: 0.95 of the bandwidth on B200, where GEMMs reach 0.72.
constexpr double kFourBitStream = 1.3;
constexpr double kElementwiseLaunch = 0.7;  // launch latency over a GEMM's

// How a GEMM is reported: the operator's name, the scope of its figures, the figure of its time.
struct ServedProduct {
  std::string_view name, scope, symbol;
  Note note;
};
// In the order of ProductId.
constexpr std::array kServed{
    ServedProduct{"QKV projection", "qkv", "query_key_value", {"Query, key and value projection"}},
    ServedProduct{"query projection", "query", "query", {"Up-projection of queries"}},
    ServedProduct{"latent projection", "compress", "compress", {"Down-projection of queries, keys and values"}},
    ServedProduct{"query projection", "query", "query", {"Up-projection of queries"}},
    ServedProduct{"latent projection", "compress", "compress", {"Down-projection of queries, keys and values"}},
    ServedProduct{"KV up-projection", "expand", "expansion", {"Up-projection of keys and values"}},
    ServedProduct{"output projection", "output", "attention_output", {"Output projection of attention"}},
    ServedProduct{"recurrence input projection",
                  "recurrent_in",
                  "recurrent_in",
                  {"Input projection of the recurrence", "values, gates, keys, queries and decays together"}},
    ServedProduct{"recurrence output projection", "recurrent_out", "recurrent_out", {"Output projection of the recurrence"}},
    ServedProduct{"state projection", "states", "steps_and_states", {"Projection to time steps and states"}},
    ServedProduct{"step projection", "steps", "steps_up", {"Up-projection of the time steps"}},
    ServedProduct{"decay projection", "decays", "decays_up", {"Up-projection of the decays"}},
    ServedProduct{"gate projection", "gates", "gates_up", {"Up-projection of the gates"}},
    ServedProduct{"gate+up projection", "mlp_in", "mlp_in", {"Up projection of the MLP", "with its gate, if it has one"}},
    ServedProduct{"down projection", "mlp_out", "mlp_out", {"Down projection of the MLP"}},
    ServedProduct{"router", "router", "router", {"Router", "in 16 bit"}},
    ServedProduct{"experts", "experts", "routed", {"Routed experts"}},  // both GEMMs with the routing
    ServedProduct{},
    ServedProduct{"shared experts, gate+up", "shared_in", "shared_in", {"Gate and up projection of the shared experts"}},
    ServedProduct{"shared experts, down", "shared_out", "shared_out", {"Down projection of the shared experts"}},
    ServedProduct{"LM head", "product", "output_matrix", {"LM head", "in 16 bit"}},
};
static_assert(kServed.size() == static_cast<std::size_t>(ProductId::kHead) + 1);
const ServedProduct& ServedAs(ProductId id) { return kServed[static_cast<std::size_t>(id)]; }

Gemm GemmOf(const Deployment& deployment, const MatrixProduct& product, double rows) {
  Gemm gemm;
  gemm.m = rows, gemm.n = product.outputs, gemm.k = product.inputs;
  const ProductRole role = TraitsOf(product.id).role;
  if (role == ProductRole::kMixer)
    gemm.precision = deployment.formats.attention_activations, gemm.weights = deployment.formats.attention_weights;
  if (role == ProductRole::kMlp) gemm.precision = deployment.formats.activations, gemm.weights = deployment.formats.mlp_weights;
  if (product.id == ProductId::kHead) gemm.weights = deployment.formats.head_weights;
  gemm.quantize = BytesPerElement(gemm.precision) < 2;
  return gemm;
}

// Times the GEMM and records its time as a figure of the current scope.
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace) {
  const ServedProduct& served = ServedAs(product.id);
  const Gemm gemm = GemmOf(deployment, product, rows);
  const auto timed = [&] {
    const Trace::Scope scope(trace, served.scope);
    return TimeOf(gemm, deployment.device, ServingKernelParameters(gemm, deployment.device), trace);
  };
  const KernelTime kernel = deployment.memo == nullptr || trace.on() ? timed() : deployment.memo->Product(gemm, timed);
  trace.Record(served.symbol, "time", kernel.time, served.note, "time", kernel.time);
  return kernel;
}

// Operands still in L2 from the previous kernel are read at L2 bandwidth.
Seconds ElementwiseTime(const Deployment& deployment, Bytes bytes) {
  if (!(bytes > Bytes{})) return {};
  const double missed = bytes / (bytes + 0.5 * L2Capacity(deployment.device));
  return bytes * missed / (deployment.device.memory.bandwidth * deployment.engine.kernels.elementwise_bandwidth_efficiency) +
         bytes * (1 - missed) / L2Rate(deployment.device);
}

// Adds an operator of `layers` layers to the breakdown.
struct Adder {
  OperatorBreakdown& operators;
  double layers;
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    operators.Add(name, kernel, layers);
    return kernel.time;
  }
  void operator()(const Deployment& deployment, const MatrixProduct& product, double rows, ListedSum<Seconds>& sum, Trace& trace) const {
    const ServedProduct& served = ServedAs(product.id);
    sum.Add(served.symbol, (*this)(served.name, TimeProduct(deployment, product, rows, trace)));
  }
};

KernelTime LatentNorms(const Deployment& deployment, double rows, double ranks) {
  KernelTime norms;
  norms.bytes = 4 * kB * rows * ranks;
  norms.time = 2 * kElementwiseLaunch * *deployment.device.efficiency.launch_latency + ElementwiseTime(deployment, norms.bytes);
  norms.bound = Bound::kLatency;
  return norms;
}

// Batched GEMM over the heads, `rows` x n x k each: what remains of an up-projection absorbed into attention (MLA decode).
KernelTime AbsorbedProduct(const Deployment& deployment, double rows, double n, double k) {
  KernelTime absorbed;
  absorbed.flops = 2 * kFlop * rows * deployment.shapes.widths.heads * n * k;
  absorbed.bytes = (deployment.shapes.widths.heads * n * k + rows * deployment.shapes.widths.heads * (n + k)) * 2.0 * kB;
  absorbed.compute = absorbed.flops / (0.6 * PeakRate(deployment.device, Precision::kBf16));
  absorbed.memory = absorbed.bytes / (deployment.device.memory.bandwidth * *deployment.device.efficiency.bandwidth_efficiency);
  absorbed.time = *deployment.device.efficiency.launch_latency + max(absorbed.compute, absorbed.memory);
  absorbed.bound = absorbed.compute > absorbed.memory ? Bound::kCompute : Bound::kMemory;
  return absorbed;
}

// Prefill computes keys and values from the latent; decode attends to the latent and absorbs the up-projections into two batched GEMMs.
void AddLatentOperators(const Deployment& deployment, const MatrixProduct& expansion, double rows, Phase phase, const Adder& add,
                        ListedSum<Seconds>& sum, Trace& trace) {
  const Mla& mla = *deployment.model.mla;
  const auto kv_rank = static_cast<double>(mla.kv_lora_rank);
  sum.Add("latent_norms", add("latent norms", LatentNorms(deployment, rows, static_cast<double>(mla.q_lora_rank) + kv_rank)));
  if (phase == Phase::kPrefill) {
    add(deployment, expansion, rows, sum, trace);
  } else {
    sum.Add("absorbed_keys", add("absorbed keys", AbsorbedProduct(deployment, rows, kv_rank, static_cast<double>(mla.nope_head_dim))));
    sum.Add("absorbed_values", add("absorbed values", AbsorbedProduct(deployment, rows, static_cast<double>(mla.value_head_dim), kv_rank)));
  }
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
  if (!deployment.model.mla) return sum.Total("projections", {"Projections of attention"});
  AddLatentOperators(deployment, *expansion, rows, phase, add, sum, trace);
  return sum.Total("projections", {"Projections of latent attention",
                                   "prefill computes keys and values; decode absorbs their projection into queries and outputs",
                                   "DeepSeek-V2, arXiv 2405.04434"});
}

Seconds RecurrentProjections(const Deployment& deployment, double rows, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : deployment.shapes.recurrence) add(deployment, product, rows, sum, trace);
  return sum.Total("recurrent", {"Projections of a recurrent layer"});
}

Seconds DenseMlp(const Deployment& deployment, double rows, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : deployment.shapes.mlp) add(deployment, product, rows, sum, trace);
  return sum.Total("mlp", {"Dense MLP"});
}

KernelTime Experts(const Deployment& deployment, double rows, double held_tokens, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Moe& moe = *deployment.model.moe;
  MoeLayer layer;
  layer.tokens = rows * deployment.mapping.attention_dp;
  layer.held_tokens = held_tokens;
  layer.experts = deployment.shapes.experts;
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = deployment.shapes.hidden;
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.tp = deployment.mapping.expert_ranks;
  layer.ep = deployment.mapping.ep;
  // Four-bit weights with 8-bit activations run on four-bit units, if the device has them.
  const bool four_bit = IsFourBitFloat(deployment.formats.mlp_weights) && BytesPerElement(deployment.formats.activations) < 2 &&
                        Supports(deployment.device, deployment.formats.mlp_weights);
  layer.precision = four_bit ? deployment.formats.mlp_weights : deployment.formats.activations;
  layer.weights = deployment.formats.mlp_weights;
  layer.imbalance = ImbalanceOf(deployment, trace);
  MoeKernelParameters parameters = ServingKernelParameters(layer, deployment.device);
  layer.scaling = Scaling::kBlock;
  parameters.permute_efficiency =
      ServingKernelParameters(layer, deployment.device).permute_efficiency;  // block scales travel with the tokens
  layer.scaling = Scaling::kTensor;
  if (BytesPerElement(deployment.formats.mlp_weights) < 1 && BytesPerElement(deployment.formats.activations) >= 2) {
    // Weight-only experts run at the rate, latency and bandwidth of weight-only GEMMs.
    parameters.product.gemm_efficiency = min(1.0, 1.065 * *deployment.device.efficiency.gemm_efficiency);
    parameters.product.step_latency = 25 * kNs;
    parameters.weight_bandwidth_gain = 1.1;
    parameters.permute_efficiency = 0.55;
  }
  parameters.launch = deployment.engine.kernels.moe_layer_overhead;
  parameters.product.gemm_efficiency *= deployment.expert_gemm_efficiency;
  if (four_bit) parameters.weight_bandwidth_gain = 1;
  parameters.bandwidth_gain *= four_bit ? kFourBitStream : deployment.expert_bandwidth_efficiency;
  return TimeOf(layer, deployment.device, parameters, trace);
}

// A layer's routed experts and the exchange of their tokens: the engine's kernels, else the library collectives that are faster
// together with the experts' work.
struct RoutedExperts {
  KernelTime experts;
  ExpertTraffic traffic;
};
RoutedExperts Routed(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  if (deployment.mapping.attention_dp <= 1) return {Experts(deployment, rows, rows, trace), {}};
  Trace off = Trace::Off();
  const auto total = [&](const ExpertTraffic& traffic) {
    return traffic.kernel.time + Experts(deployment, rows, traffic.held_tokens, off).time;
  };
  const bool gathers = deployment.network.expert_exchange == nullptr &&
                       total(GatherTokens(deployment, rows, off)) <= total(SendTokens(deployment, rows, phase, off));
  const ExpertTraffic traffic = gathers ? GatherTokens(deployment, rows, trace) : SendTokens(deployment, rows, phase, trace);
  return {Experts(deployment, rows, traffic.held_tokens, trace), traffic};
}

void ExpertMlp(const Deployment& deployment, double rows, Phase phase, const Adder& add, LayerCost& layer, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    if (product.id == ProductId::kExpertsOut) continue;  // timed with kExpertsIn
    if (product.id != ProductId::kExpertsIn) {
      add(deployment, product, rows, sum, trace);
      continue;
    }
    const RoutedExperts own = Routed(deployment, rows, phase, trace);
    const ServedProduct& served = ServedAs(product.id);
    const Seconds time = add(served.name, own.experts);
    trace.Record(served.symbol, "time", time, served.note, "time", time);
    sum.Add(served.symbol, time);
    layer.dispatch = own.traffic.dispatch;
    layer.combine = own.traffic.kernel.time - own.traffic.dispatch;
  }
  layer.experts = sum.Total("experts", {"Experts", "without dispatch and combine"});
}

// Norms, residual and activation in separate kernels. The activation of experts is part of their kernels.
KernelTime Elementwise(const Deployment& deployment, double rows, double norms, double kernels, Trace& trace) {
  const double hidden = deployment.shapes.hidden, inner = deployment.shapes.widths.mlp * deployment.layers.dense / deployment.layers.total,
               tp = deployment.mapping.tp;
  const double activation_bytes = ActivationOf(deployment.model).forward, extra_bytes = deployment.engine.kernels.elementwise_bytes;
  const Bytes one = 1 * kB;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const double launch_share = kElementwiseLaunch;
  const Seconds norm_time = ElementwiseTime(deployment, 6 * one * rows * hidden),
                activation_time = ElementwiseTime(deployment, activation_bytes * one * rows * inner);
  const Seconds extra_time = ElementwiseTime(deployment, extra_bytes * one * rows * hidden / tp);
  FIGURE(trace, elementwise, kernels * launch_share * launch + norms * norm_time + activation_time + extra_time,
         (Note{"Norms, residual and activation", "a launch latency per kernel; data not in L2 at the engine's bandwidth efficiency"}),
         kernels, launch_share, launch, norms, norm_time, activation_time, extra_time);
  KernelTime kernel;
  kernel.time = elementwise;
  kernel.bytes = one * rows * (6 * norms * hidden + activation_bytes * inner + extra_bytes * hidden / tp);
  kernel.bound = kernels * launch_share * launch > elementwise / 2 ? Bound::kLatency : Bound::kMemory;
  return kernel;
}

// Operations launched by the host per layer, mean over the layers: five for GEMMs and attention; MoE adds routing, permutation, scales
// and combine; MLA adds projections, norms and rotary embedding; 8-bit and 4-bit activations are scaled before each GEMM.
double OperationsPerLayer(const Deployment& deployment, double halves, double elementwise_kernels) {
  const bool is_latent = deployment.model.mla.has_value();
  const double moe_share = deployment.layers.moe / deployment.layers.total,
               shared = deployment.model.moe && deployment.model.moe->shared_ffn > 0 ? 1 : 0;
  const double scaled_attention = BytesPerElement(deployment.formats.attention_activations) < 2 ? (is_latent ? 4 : 2) : 0;
  const double scaled_mlp = BytesPerElement(deployment.formats.activations) < 2 ? 2 * (1 - moe_share + moe_share * shared) : 0;
  return 5 + elementwise_kernels + (deployment.mapping.tp > 1 ? halves : 0) + moe_share * (6 + 3 * shared) + (is_latent ? 5 : 0) +
         scaled_attention + scaled_mlp;
}

}  // namespace

LayerCost TimeLayer(const Deployment& deployment, double rows, Phase phase, OperatorBreakdown& operators, Trace& trace) {
  const Trace::Scope scope(trace, "layer");
  const double dense = deployment.layers.dense;
  const Adder every_layer{operators, deployment.layers.total};
  LayerCost layer;
  if (deployment.layers.attention > 0)
    layer.projections = Projections(deployment, rows, phase, Adder{operators, deployment.layers.attention}, trace);
  if (deployment.layers.recurrent > 0)
    layer.recurrent = RecurrentProjections(deployment, rows, Adder{operators, deployment.layers.recurrent}, trace);
  if (dense > 0) layer.mlp = DenseMlp(deployment, rows, Adder{operators, dense}, trace);
  if (deployment.model.moe) ExpertMlp(deployment, rows, phase, Adder{operators, deployment.layers.moe}, layer, trace);
  // Parallel attention and MLP share a norm, a residual addition and an all-reduce.
  const double halves = ResidualAdditions(deployment.model);
  const double elementwise_kernels = max(0.0, deployment.engine.kernels.elementwise_kernels - (2 - halves));
  layer.elementwise = every_layer("norms, activation, residual", Elementwise(deployment, rows, halves, elementwise_kernels, trace));

  const ExchangeCost reduction =
      AllReduce(deployment, 2 * kB * rows * deployment.shapes.hidden, phase == Phase::kDecode && !deployment.launch.graphs, trace);
  operators.Add("all-reduce", reduction.kernel, halves * deployment.layers.total);
  const Seconds reduction_time = reduction.kernel.time;
  FIGURE(trace, reductions, halves * reduction_time, (Note{"All-reduces per layer", "after attention and after the MLP"}), halves,
         reduction_time);
  layer.reductions = reductions;

  const Seconds gap = phase == Phase::kDecode ? deployment.launch.decode_gap : deployment.launch.prefill_gap;
  const double own_kernels = 4 + elementwise_kernels, library_kernels = reduction.launched_apart ? halves : 0;
  FIGURE(trace, gaps, gap * (own_kernels + library_kernels),
         (Note{"Launch gaps between kernels", "of kernels launched one by one; none inside a CUDA graph"}), gap, own_kernels,
         library_kernels);
  layer.operations = OperationsPerLayer(deployment, halves, elementwise_kernels);
  KernelTime idle;
  idle.time = gaps;
  idle.bound = Bound::kLatency;
  layer.gaps = every_layer("launch overhead", idle);
  return layer;
}

Seconds TimeHead(const Deployment& deployment, double rows, bool waits_for_host, OperatorBreakdown& operators, Trace& trace) {
  const Trace::Scope scope(trace, "head");
  const KernelTime product = TimeProduct(deployment, HeadProduct(deployment.model, deployment.shapes.widths), rows, trace);
  const Seconds output_matrix = product.time;
  const double vocabulary = deployment.shapes.widths.vocab;
  const Bytes logit = 8 * kB;
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  const Seconds gathered = AllReduce(deployment, logit * rows, waits_for_host, trace).kernel.time;
  FIGURE(trace, token_choice, logit * rows * vocabulary / (0.6 * bandwidth) + gathered,
         (Note{"Sampling", "logits are written and read in fp32; ranks exchange their maxima"}), logit, rows, vocabulary, bandwidth,
         gathered);
  KernelTime choice;
  choice.bytes = logit * rows * vocabulary;
  choice.memory = choice.time = token_choice;
  choice.bound = Bound::kMemory;
  operators.Add("LM head", product, 1);
  operators.Add("sampling", choice, 1);
  FIGURE(trace, head, output_matrix + token_choice, (Note{"LM head and sampling", ""}), output_matrix, token_choice);
  return head;
}

}  // namespace slipstick
