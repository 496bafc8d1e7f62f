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

// Experts in four bit stream better than matrix products: 0.95 of the bandwidth on B200, where products reach 0.72.
constexpr double kFourBitStream = 1.3;
constexpr double kElementLaunch = 0.7;  // of a matrix product's fixed cost

// How a product shows in a step: its operator, the scope of its figures, the figure of its time.
struct ServedProduct {
  std::string_view name, scope, symbol;
  Note note;
};
// In the order of ProductId.
constexpr std::array kServed{
    ServedProduct{"query, key, value", "qkv", "query_key_value", {"Query, key and value matrices"}},
    ServedProduct{"query", "query", "query", {"Expansion of queries"}},
    ServedProduct{"compress", "compress", "compress", {"Compression of queries, keys and values"}},
    ServedProduct{"query", "query", "query", {"Expansion of queries"}},
    ServedProduct{"compress", "compress", "compress", {"Compression of queries, keys and values"}},
    ServedProduct{"keys and values", "expand", "expansion", {"Expansion of keys and values"}},
    ServedProduct{"attention output", "output", "attention_output", {"Attention's output matrix"}},
    ServedProduct{"recurrent layer in",
                  "recurrent_in",
                  "recurrent_in",
                  {"Matrix into the recurrence", "values, gates, keys, queries and decays together"}},
    ServedProduct{"recurrent layer out", "recurrent_out", "recurrent_out", {"Matrix out of the recurrence"}},
    ServedProduct{"steps and states in", "states", "steps_and_states", {"Matrix into steps and states"}},
    ServedProduct{"steps", "steps", "steps_up", {"Expansion of steps"}},
    ServedProduct{"decays", "decays", "decays_up", {"Expansion of decays"}},
    ServedProduct{"gates", "gates", "gates_up", {"Expansion of gates"}},
    ServedProduct{"MLP in", "mlp_in", "mlp_in", {"First matrix of the MLP", "with its gate, where there is one"}},
    ServedProduct{"MLP out", "mlp_out", "mlp_out", {"Second matrix of the MLP"}},
    ServedProduct{"router", "router", "router", {"Router", "kept in 16 bit"}},
    ServedProduct{"experts", "experts", "routed", {"Routed experts"}},  // both of their products with the routing
    ServedProduct{},
    ServedProduct{"shared experts in", "shared_in", "shared_in", {"First matrix of the shared experts"}},
    ServedProduct{"shared experts out", "shared_out", "shared_out", {"Second matrix of the shared experts"}},
    ServedProduct{"output matrix", "product", "output_matrix", {"Output matrix", "kept in 16 bit"}},
};
static_assert(kServed.size() == static_cast<std::size_t>(ProductId::kHead) + 1);
const ServedProduct& ServedAs(ProductId id) { return kServed[static_cast<std::size_t>(id)]; }

Gemm GemmOf(const Deployment& d, const MatrixProduct& product, double rows) {
  Gemm gemm;
  gemm.m = rows, gemm.n = product.outputs, gemm.k = product.inputs;
  const ProductRole role = TraitsOf(product.id).role;
  if (role == ProductRole::kMixer) gemm.precision = d.attention_activations, gemm.weights = d.attention_weights;
  if (role == ProductRole::kMlp) gemm.precision = d.activations, gemm.weights = d.mlp_weights;
  if (product.id == ProductId::kHead) gemm.weights = d.head_weights;
  gemm.quantize = BytesPerElement(gemm.precision) < 2;
  return gemm;
}

// The product as an operator, its time a figure of the present scope.
KernelTime TimeProduct(const Deployment& d, const MatrixProduct& product, double rows, Trace& trace) {
  const ServedProduct& served = ServedAs(product.id);
  const Gemm gemm = GemmOf(d, product, rows);
  const auto timed = [&] {
    const Trace::Scope scope(trace, served.scope);
    return TimeOf(gemm, d.device, ServingKernelParameters(gemm, d.device), trace);
  };
  const KernelTime kernel = d.memo == nullptr || trace.on() ? timed() : d.memo->Product(gemm, timed);
  trace.Record(served.symbol, "time", kernel.time, served.note, "time", kernel.time);
  return kernel;
}

// Data between kernels: what the last cache keeps is read from there.
Seconds ElementTime(const Deployment& d, Bytes bytes) {
  if (!(bytes > Bytes{})) return {};
  const double missed = bytes / (bytes + 0.5 * L2Capacity(d.device));
  return bytes * missed / (d.device.memory.bandwidth * d.engine.kernels.elementwise_bandwidth_efficiency) +
         bytes * (1 - missed) / L2Rate(d.device);
}

// Adds an operator that `layers` layers have.
struct Adder {
  Parts& parts;
  double layers;
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    parts.Add(name, kernel, layers);
    return kernel.time;
  }
  void operator()(const Deployment& d, const MatrixProduct& product, double rows, ListedSum<Seconds>& sum, Trace& trace) const {
    const ServedProduct& served = ServedAs(product.id);
    sum.Add(served.symbol, (*this)(served.name, TimeProduct(d, product, rows, trace)));
  }
};

KernelTime LatentNorms(const Deployment& d, double rows, double ranks) {
  KernelTime norms;
  norms.bytes = 4 * kB * rows * ranks;
  norms.time = 2 * kElementLaunch * *d.device.efficiency.launch_latency + ElementTime(d, norms.bytes);
  norms.bound = Bound::kLatency;
  return norms;
}

// A product a head of `rows` tokens with n outputs and k inputs: what is left of an expansion that is absorbed.
KernelTime AbsorbedProduct(const Deployment& d, double rows, double n, double k) {
  KernelTime absorbed;
  absorbed.flops = 2 * kFlop * rows * d.widths.heads * n * k;
  absorbed.bytes = (d.widths.heads * n * k + rows * d.widths.heads * (n + k)) * 2.0 * kB;
  absorbed.compute = absorbed.flops / (0.6 * PeakRate(d.device, Precision::kBf16));
  absorbed.memory = absorbed.bytes / (d.device.memory.bandwidth * *d.device.efficiency.bandwidth_efficiency);
  absorbed.time = *d.device.efficiency.launch_latency + max(absorbed.compute, absorbed.memory);
  absorbed.bound = absorbed.compute > absorbed.memory ? Bound::kCompute : Bound::kMemory;
  return absorbed;
}

// Prefill expands keys and values; decode keeps the latent: the expansions are absorbed into two batched products.
void AddLatentParts(const Deployment& d, const MatrixProduct& expansion, double rows, Phase phase, const Adder& add,
                    ListedSum<Seconds>& sum, Trace& trace) {
  const Mla& mla = *d.model.mla;
  const auto kv_rank = static_cast<double>(mla.kv_lora_rank);
  sum.Add("latent_norms", add("latent norms", LatentNorms(d, rows, static_cast<double>(mla.q_lora_rank) + kv_rank)));
  if (phase == Phase::kPrefill) {
    add(d, expansion, rows, sum, trace);
  } else {
    sum.Add("absorbed_keys", add("absorbed keys", AbsorbedProduct(d, rows, kv_rank, static_cast<double>(mla.nope_head_dim))));
    sum.Add("absorbed_values", add("absorbed values", AbsorbedProduct(d, rows, static_cast<double>(mla.value_head_dim), kv_rank)));
  }
}

Seconds Projections(const Deployment& d, double rows, Phase phase, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  const MatrixProduct *queries = d.attention.Find(ProductId::kQueryDown), *latent = d.attention.Find(ProductId::kKeyValueDown),
                      *expansion = d.attention.Find(ProductId::kKeyValueUp);
  for (MatrixProduct product : d.attention) {
    // Both compressions of latent attention read the residual stream: engines run them as one.
    if (product.id == ProductId::kQueryDown) product.outputs += latent->outputs;
    const bool is_joined = product.id == ProductId::kKeyValueDown && queries != nullptr;
    if (!is_joined && product.id != ProductId::kKeyValueUp) add(d, product, rows, sum, trace);
  }
  if (!d.model.mla) return sum.Total("projections", {"Projections of attention"});
  AddLatentParts(d, *expansion, rows, phase, add, sum, trace);
  return sum.Total("projections",
                   {"Projections of latent attention", "prefill expands keys and values, decode absorbs that into the queries and outputs",
                    "DeepSeek-V2, arXiv 2405.04434"});
}

// Matrices of a layer with a recurrence in place of attention.
Seconds RecurrentProjections(const Deployment& d, double rows, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : d.recurrence) add(d, product, rows, sum, trace);
  return sum.Total("recurrent", {"Matrices of a recurrent layer"});
}

Seconds DenseMlp(const Deployment& d, double rows, const Adder& add, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : d.mlp) add(d, product, rows, sum, trace);
  return sum.Total("mlp", {"Dense MLP"});
}

KernelTime Experts(const Deployment& d, double rows, double held, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const Moe& moe = *d.model.moe;
  MoeLayer layer;
  layer.tokens = rows * d.attention_dp;
  layer.held_tokens = held;
  layer.experts = d.experts;
  layer.top_k = static_cast<double>(moe.top_k);
  layer.hidden = d.hidden;
  layer.ffn = static_cast<double>(moe.expert_ffn);
  layer.tp = d.expert_ranks;
  layer.ep = d.ep;
  // Four-bit weights with narrow activations run on the four-bit units where there are any.
  const bool four_bit = IsFourBitFloat(d.mlp_weights) && BytesPerElement(d.activations) < 2 && Supports(d.device, d.mlp_weights);
  layer.precision = four_bit ? d.mlp_weights : d.activations;
  layer.weights = d.mlp_weights;
  layer.imbalance = ImbalanceOf(d, trace);
  MoeKernelParameters parameters = ServingKernelParameters(layer, d.device);
  layer.scaling = Scaling::kBlock;
  parameters.permute_efficiency = ServingKernelParameters(layer, d.device).permute_efficiency;  // scales of blocks travel with the tokens
  layer.scaling = Scaling::kTensor;
  if (BytesPerElement(d.mlp_weights) < 1 && BytesPerElement(d.activations) >= 2) {
    // Weight-only experts run as weight-only products do: the same rate, latency and stream.
    parameters.product.gemm_efficiency = min(1.0, 1.065 * *d.device.efficiency.gemm_efficiency);
    parameters.product.step_latency = 25 * kNs;
    parameters.weight_bandwidth_gain = 1.1;
    parameters.permute_efficiency = 0.55;
  }
  parameters.launch = d.engine.kernels.moe_layer_overhead;
  parameters.product.gemm_efficiency *= d.expert_matrix;
  if (four_bit) parameters.weight_bandwidth_gain = 1;
  parameters.bandwidth_gain *= four_bit ? kFourBitStream : d.expert_stream;
  return TimeOf(layer, d.device, parameters, trace);
}

// A layer's routed experts and how its tokens reach them: a library's collectives, whichever are faster with the experts' own
// work, or the engine's kernels.
struct RoutedExperts {
  KernelTime experts;
  ExpertTraffic traffic;
};
RoutedExperts Routed(const Deployment& d, double rows, Phase phase, Trace& trace) {
  if (d.attention_dp <= 1) return {Experts(d, rows, rows, trace), {}};
  Trace off = Trace::Off();
  const auto total = [&](const ExpertTraffic& traffic) { return traffic.kernel.time + Experts(d, rows, traffic.held, off).time; };
  const bool gathers = d.exchange == nullptr && total(GatherTokens(d, rows, off)) <= total(SendTokens(d, rows, phase, off));
  const ExpertTraffic traffic = gathers ? GatherTokens(d, rows, trace) : SendTokens(d, rows, phase, trace);
  return {Experts(d, rows, traffic.held, trace), traffic};
}

void ExpertMlp(const Deployment& d, double rows, Phase phase, const Adder& add, LayerCost& layer, Trace& trace) {
  ListedSum<Seconds> sum(trace);
  for (const MatrixProduct& product : d.expert_mlp) {
    if (product.id == ProductId::kExpertsOut) continue;  // with the other of the experts' products
    if (product.id != ProductId::kExpertsIn) {
      add(d, product, rows, sum, trace);
      continue;
    }
    const RoutedExperts own = Routed(d, rows, phase, trace);
    const ServedProduct& served = ServedAs(product.id);
    const Seconds time = add(served.name, own.experts);
    trace.Record(served.symbol, "time", time, served.note, "time", time);
    sum.Add(served.symbol, time);
    layer.dispatch = own.traffic.dispatch;
    layer.combine = own.traffic.kernel.time - own.traffic.dispatch;
  }
  layer.experts = sum.Total("experts", {"Experts", "without the exchange of their tokens"});
}

// Norms with the residual and the activation, in kernels of their own; experts' kernels contain theirs.
KernelTime Elements(const Deployment& d, double rows, double norms, double kernels, Trace& trace) {
  const double hidden = d.hidden, inner = d.widths.mlp * d.dense_layers / d.layers, tp = d.tp;
  const double activation_bytes = ActivationOf(d.model).forward, further_bytes = d.engine.kernels.elementwise_bytes;
  const Bytes one = 1 * kB;
  const Seconds launch = *d.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const double launch_share = kElementLaunch;
  const Seconds norm_time = ElementTime(d, 6 * one * rows * hidden),
                activation_time = ElementTime(d, activation_bytes * one * rows * inner);
  const Seconds further_time = ElementTime(d, further_bytes * one * rows * hidden / tp);
  FIGURE(trace, elements, kernels * launch_share * launch + norms * norm_time + activation_time + further_time,
         (Note{"Norms, residual and activation",
               "a fixed cost a kernel, and data at the engine's share of the bandwidth where the last cache "
               "does not keep it"}),
         kernels, launch_share, launch, norms, norm_time, activation_time, further_time);
  KernelTime kernel;
  kernel.time = elements;
  kernel.bytes = one * rows * (6 * norms * hidden + activation_bytes * inner + further_bytes * hidden / tp);
  kernel.bound = kernels * launch_share * launch > elements / 2 ? Bound::kLatency : Bound::kMemory;
  return kernel;
}

}  // namespace

LayerCost TimeLayer(const Deployment& d, double rows, Phase phase, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "layer");
  const double dense = d.dense_layers;
  const Adder every{parts, d.layers};
  LayerCost layer;
  if (d.attention_layers > 0) layer.projections = Projections(d, rows, phase, Adder{parts, d.attention_layers}, trace);
  if (d.linear_layers > 0) layer.recurrent = RecurrentProjections(d, rows, Adder{parts, d.linear_layers}, trace);
  if (dense > 0) layer.mlp = DenseMlp(d, rows, Adder{parts, dense}, trace);
  if (d.model.moe) ExpertMlp(d, rows, phase, Adder{parts, d.moe_layers}, layer, trace);
  // Attention and MLP side by side share a norm, a residual addition and an all-reduce.
  const double halves = ResidualAdditions(d.model);
  const double element_kernels = max(0.0, d.engine.kernels.elementwise_kernels - (2 - halves));
  layer.elements = every("norms, activation, residual", Elements(d, rows, halves, element_kernels, trace));

  const ExchangeCost reduction = AllReduce(d, 2 * kB * rows * d.hidden, phase == Phase::kDecode && !d.graphs, trace);
  parts.Add("all-reduce", reduction.kernel, halves * d.layers);
  const Seconds reduction_time = reduction.kernel.time;
  FIGURE(trace, reductions, halves * reduction_time, (Note{"All-reduces of a layer", "after attention and after the MLP"}), halves,
         reduction_time);
  layer.reductions = reductions;

  const Seconds gap = phase == Phase::kDecode ? d.decode_gap : d.prefill_gap;
  const double own_kernels = 4 + element_kernels, library_kernels = reduction.launched_apart ? halves : 0;
  FIGURE(trace, gaps, gap * (own_kernels + library_kernels),
         (Note{"Gaps between kernels", "that are launched one by one; none inside a graph"}), gap, own_kernels, library_kernels);
  // Products and attention of a layer; its experts bring routing, permutation, scales and combination, latent attention its
  // compressions, norms and rotary parts; activations in 8 or 4 bits are scaled before each product.
  const double moe_share = d.moe_layers / d.layers, shared = d.model.moe && d.model.moe->shared_ffn > 0 ? 1 : 0;
  const double scaled_attention = BytesPerElement(d.attention_activations) < 2 ? (d.model.mla ? 4 : 2) : 0;
  const double scaled_mlp = BytesPerElement(d.activations) < 2 ? 2 * (1 - moe_share + moe_share * shared) : 0;
  layer.operations =
      5 + element_kernels + (d.tp > 1 ? halves : 0) + moe_share * (6 + 3 * shared) + (d.model.mla ? 5 : 0) + scaled_attention + scaled_mlp;
  KernelTime idle;
  idle.time = gaps;
  idle.bound = Bound::kLatency;
  layer.gaps = every("launch gaps", idle);
  return layer;
}

Seconds TimeHead(const Deployment& d, double rows, bool waits_for_host, Parts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "head");
  const KernelTime product = TimeProduct(d, HeadProduct(d.model, d.widths), rows, trace);
  const Seconds output_matrix = product.time;
  const double vocabulary = d.widths.vocab;
  const Bytes logit = 8 * kB;
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const Seconds gathered = AllReduce(d, logit * rows, waits_for_host, trace).kernel.time;
  FIGURE(trace, token_choice, logit * rows * vocabulary / (0.6 * bandwidth) + gathered,
         (Note{"Choice of a token", "logits are written and read in fp32; ranks exchange their best"}), logit, rows, vocabulary, bandwidth,
         gathered);
  KernelTime choice;
  choice.bytes = logit * rows * vocabulary;
  choice.memory = choice.time = token_choice;
  choice.bound = Bound::kMemory;
  parts.Add("output matrix", product, 1);
  parts.Add("choice of a token", choice, 1);
  FIGURE(trace, head, output_matrix + token_choice, (Note{"Output matrix and choice of a token", ""}), output_matrix, token_choice);
  return head;
}

}  // namespace slipstick
