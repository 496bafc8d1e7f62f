#include "core/engine_step/layer_time.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/launches.h"
#include "core/engine_step/product_time.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// Adds operators of `rows` tokens that run in `layers` layers to the breakdown, and returns their time in one layer.
struct Adder {
  const Deployment& deployment;
  Ratio rows;
  OperatorBreakdown& operators;
  Ratio layers;

  [[nodiscard]] Adder In(Ratio others) const { return {deployment, rows, operators, others}; }
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    return operators.Add(name, kernel, layers);
  }
  Seconds operator()(const MatrixProduct& product) const {
    if (product.id == ProductId::kIndexQuery || product.id == ProductId::kIndexKey) return OfIndexer(product);
    return (*this)(ServedAs(product.id).name, TimeProduct(deployment, product, rows));
  }
  // Only the layers that select launch these products, whose shape is the mean over all layers.
  [[nodiscard]] Seconds OfIndexer(MatrixProduct product) const {
    const Ratio share = IndexShare(deployment.model);
    product.outputs = Figure("Outputs of an indexer's projection", product.outputs / share, "in a layer that selects");
    const KernelTime kernel = TimeProduct(deployment, product, rows);
    return Figure("Projection of the indexer", share * In(share * layers)(ServedAs(product.id).name, kernel),
                  "mean over the layers");
  }
  [[nodiscard]] Seconds Products(const MatrixProducts& products) const {
    Seconds sum;
    for (const MatrixProduct& product : products) {
      if (product.id != ProductId::kLayerInputs) sum += (*this)(product);  // those are computed for all layers at once
    }
    return sum;
  }
  // Low-rank adapters beside the products, if the load has them.
  [[nodiscard]] Seconds Adapters(const MatrixProducts& products) const {
    if (!deployment.load.adapters) return {};
    return (*this)("low-rank adapters", TimeOfAdapters(deployment, products, rows));
  }
  [[nodiscard]] Seconds Adapted(const MatrixProducts& products) const {
    const Seconds sum = Products(products);
    return sum + Adapters(products);
  }
};

// Projections of attention where layers share a KV cache: mean over the kinds of attention.
Seconds SharedKvProjections(const Adder& add) {
  const RankShapes& shapes = add.deployment.shapes;
  const ServedLayers& layers = add.deployment.layers;
  const LayersByKv by_kv = SplitBySharedKv(layers);
  Seconds all;
  const auto part = [&](const MatrixProducts& products, Ratio count) {
    if (count > 0) all += Figure("Projections of a kind of attention", add.In(count).Adapted(products)) * count;
  };
  part(shapes.attention, by_kv.own_full);
  part(shapes.window_attention, by_kv.own_window);
  part(shapes.shared_kv_attention, by_kv.shared_full);
  part(shapes.shared_kv_window_attention, layers.shared_kv_window);
  return Figure("Projections of attention", Figure("Projections of attention in all layers", all) / layers.attention,
                "mean over the kinds");
}

// MLP of a dense layer; if layers that share a KV cache have an MLP of another width, the mean.
Seconds MlpOf(const Adder& add) {
  const ServedLayers& layers = add.deployment.layers;
  const RankShapes& shapes = add.deployment.shapes;
  if (!add.deployment.model.SharesKv()) return Figure("Dense MLP", add.In(layers.dense).Adapted(shapes.mlp));
  const Ratio own = OwnDenseLayers(layers), sharing = layers.shared_kv;
  const Seconds own_mlp = Figure("Dense MLP", add.In(own).Adapted(shapes.mlp));
  const Seconds shared_mlp = Figure("Dense MLP", add.In(sharing).Adapted(shapes.shared_kv_mlp));
  return Figure("Dense MLP", (own * own_mlp + sharing * shared_mlp) / layers.dense,
                "mean over the layers with a KV cache and those that share one");
}

// Gathers the rows of the embedding tables, normalizes them and adds them to the projection.
KernelTime RowsOfTables(const Deployment& deployment, Bytes one_pass) {
  const Efficiency& efficiency = deployment.device.efficiency;
  const Seconds launch = *efficiency.launch_latency;
  const Stream data = SlowestStream(deployment.device);
  const Bytes bytes = Figure("Rows of the tables and the projection added to them", 8 * one_pass,
                             "gathered, normed and added: four passes that read and write");
  const Seconds move_time = bytes / (data.bandwidth * *efficiency.bandwidth_efficiency);
  const Seconds time = Figure("Rows of the tables, normed and added", 3 * launch + move_time, "three kernels");
  return {time, {}, move_time, 6 * launch > time ? Bound::kLatency : data.bound, {}, bytes};
}

// Embedding tables of all layers: gathers their rows and adds the projection of the embedding.
Seconds LayerInputs(const Deployment& deployment, Ratio rows, Phase phase, OperatorBreakdown& operators) {
  const Ratio layers = deployment.layers.total;
  MatrixProduct projection = *deployment.shapes.mlp.Find(ProductId::kLayerInputs);
  projection.outputs *= layers;
  const KernelTime product = TimeProduct(deployment, projection, rows);
  operators.Add("layer embeddings", product, 1);
  const Bytes one_pass = Figure("Rows of the tables of all layers",
                                rows * layers * Ratio(deployment.model.layer_embeddings.width) * (2.0 * kB));
  const KernelTime gathered = RowsOfTables(deployment, one_pass);
  operators.Add("layer embeddings", gathered, 1);
  if (deployment.mapping.devices_per_group <= 1)
    return Figure("Embeddings of all layers", product.time + gathered.time, "once per pass");
  // Each rank has a part of a table's rows and of the projection's columns: all-reduces sum up both, as for the
  // embedding.
  const bool waits_for_host = phase == Phase::kPrefill || !deployment.launch.graphs;
  const ExchangeCost exchange = AllReduce(deployment, one_pass, waits_for_host);
  operators.Add("all-reduce", exchange.kernel, 2);
  return Figure("Embeddings of all layers", product.time + gathered.time + 2 * exchange.kernel.time,
                "once per pass; rows and projection gathered from the ranks");
}

// Operands still in L2 from the previous kernel are read at L2 bandwidth.
Seconds ElementwiseTime(const Deployment& deployment, Bytes bytes) {
  if (!(bytes > Bytes{})) return bytes / SlowestStream(deployment.device).bandwidth;
  return PassTime(bytes, bytes, 0.5, deployment.engine.kernels.elementwise_bandwidth_efficiency, 1, deployment.device);
}

KernelTime LatentNorms(const Deployment& deployment, Ratio rows) {
  const Mla& mla = *deployment.model.mla;
  KernelTime norms;
  norms.bytes = Figure("Bytes of the norms", 4 * kB * rows * (Ratio(mla.q_lora_rank) + Ratio(mla.kv_lora_rank)),
                       "read and written in 16 bit");
  norms.time = Figure("Norms of the latent vectors",
                      2 * deployment.engine.kernels.elementwise_launch * *deployment.device.efficiency.launch_latency +
                          ElementwiseTime(deployment, norms.bytes),
                      "two kernels");
  norms.bound = Bound::kLatency;
  return norms;
}

// Batched GEMM over the heads, `rows` x outputs x inputs each. MLA decode applies the up-projections to queries and
// outputs, not to the KV cache ("absorbed").
KernelTime AbsorbedProduct(const Deployment& deployment, Ratio rows, Ratio outputs, Ratio inputs) {
  const Device& device = deployment.device;
  const Ratio heads = deployment.shapes.widths.heads;
  const Stream data = SlowestStream(device);
  KernelTime product;
  product.flops = Figure("FLOPs", 2 * kFlop * rows * heads * outputs * inputs);
  product.bytes = Figure("Weights and activations",
                         (heads * outputs * inputs + rows * heads * (outputs + inputs)) * (2.0 * kB), "in 16 bit");
  product.compute =
      Figure("Compute time",
             product.flops / (device.architecture->step.absorbed_gemm_efficiency * PeakRate(device, Precision::kBf16)),
             "at a share of the peak; estimate");
  product.memory =
      Figure("Time to move the data", product.bytes / (data.bandwidth * *device.efficiency.bandwidth_efficiency));
  product.time = Figure("Batched GEMM over the heads",
                        *device.efficiency.launch_latency + max(product.compute, product.memory), "compute or memory");
  product.bound = product.compute > product.memory ? Bound::kCompute : data.bound;
  return product;
}

// Prefill computes keys and values from the latent; decode attends to the latent and absorbs the up-projections into
// two batched GEMMs.
Seconds LatentOperators(const Adder& add, Phase phase, Seconds sum) {
  const auto& [deployment, rows, operators, layers] = add;
  const Mla& mla = *deployment.model.mla;
  sum += add("latent norms", LatentNorms(deployment, rows));
  if (phase == Phase::kPrefill) return sum + add(*deployment.shapes.attention.Find(ProductId::kKeyValueUp));
  const Ratio latent(mla.kv_lora_rank);
  sum += add("absorbed keys", AbsorbedProduct(deployment, rows, latent, Ratio(mla.nope_head_dim)));
  return sum + add("absorbed values", AbsorbedProduct(deployment, rows, Ratio(mla.value_head_dim), latent));
}

Seconds Projections(const Adder& add, Phase phase) {
  const MatrixProducts& products = add.deployment.shapes.attention;
  const MatrixProduct *queries = products.Find(ProductId::kQueryDown),
                      *latent = products.Find(ProductId::kKeyValueDown);
  Seconds sum;
  for (MatrixProduct product : products) {
    // Both down-projections to latents read the residual stream: engines run them as one GEMM.
    if (product.id == ProductId::kQueryDown) product.outputs += latent->outputs;
    const bool is_joined = product.id == ProductId::kKeyValueDown && queries != nullptr;
    if (!is_joined && product.id != ProductId::kKeyValueUp) sum += add(product);
  }
  sum += add.Adapters(products);
  if (!add.deployment.model.mla) return Figure("Projections of attention", sum);
  return Figure("Projections of latent attention", LatentOperators(add, phase, sum),
                "prefill computes keys and values; decode absorbs their projection into queries and outputs",
                "DeepSeek-V2, arXiv 2405.04434");
}

// Projections of a layer with attention: if local layers have heads of their own, the mean over both kinds.
Seconds MeanProjections(const Adder& add, Phase phase) {
  const Deployment& deployment = add.deployment;
  const ServedLayers& layers = deployment.layers;
  if (deployment.model.SharesKv()) return SharedKvProjections(add);
  if (!deployment.model.HasWindowHeads()) return Projections(add.In(layers.attention), phase);
  const Seconds full = layers.full > 0 ? Projections(add.In(layers.full), phase) : Seconds{},
                local = Figure("Projections of local attention",
                               add.In(layers.window).Adapted(deployment.shapes.window_attention));
  if (layers.full <= 0) return local;
  return Figure("Projections of attention", (layers.full * full + layers.window * local) / layers.attention,
                "mean over layers with a sliding window and without");
}

void SetExperts(const Adder& add, Phase phase, LayerCost& layer) {
  const Deployment& deployment = add.deployment;
  Seconds sum;
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    if (product.id == ProductId::kExpertsOut) continue;   // timed with kExpertsIn
    if (product.id == ProductId::kLayerInputs) continue;  // for all layers at once
    if (product.id != ProductId::kExpertsIn) {
      sum += add(product);
      continue;
    }
    const RoutedExperts own = Routed(deployment, add.rows, phase);
    const std::string_view name = ServedAs(product.id).name;
    sum += deployment.load.host_experts ? TimeHostExperts(deployment, add.rows, own.experts, name, add.operators)
                                        : add(name, own.experts);
    layer.dispatch = own.traffic.dispatch;
    layer.combine = own.traffic.combine;
  }
  layer.experts = Figure("Experts", sum, "without dispatch and combine");
}

// Columns that the activation functions process, mean over the layers.
Ratio MeanInner(const Deployment& deployment) {
  const LayerWidths& widths = deployment.shapes.widths;
  const ServedLayers& layers = deployment.layers;
  Ratio inner = widths.mlp * (layers.dense - layers.shared_kv);
  if (deployment.model.SharesKv()) inner += widths.shared_kv_mlp * layers.shared_kv;
  return Figure("Inner width of the MLP", inner / layers.total + Ratio(deployment.model.layer_embeddings.width),
                "and of a layer's embedding, on one device, mean over the layers");
}

// Norms of a layer with and without a residual addition, and the number of all its elementwise kernels. A layer's
// embedding adds the norm of its output, with an addition, and the activation of its gate.
struct NormKernels {
  Ratio norms = 0, own_norms = 0, kernels = 0;
};
NormKernels NormKernelsOf(const Deployment& deployment, Ratio halves) {
  const Ratio own_norms = NormsBeforeAdditions(deployment.model),
              element_kernels = deployment.engine.kernels.elementwise_kernels;
  const bool embeds = deployment.model.layer_embeddings.width > 0;
  const Ratio norms =
      embeds ? Figure("Norms with a residual addition", halves + 1, "one of them of the layer's embedding") : halves;
  const Ratio kernels = Figure(
      "Norm, residual and activation kernels of a layer",
      max(0.0, element_kernels - (2 - halves)) + min(1.0, element_kernels) * (embeds ? own_norms + 2 : own_norms),
      "an engine without any launches none for further norms");
  const ServedLayers& layers = deployment.layers;
  if (!(layers.recurrent > 0)) return {norms, own_norms, kernels};
  return {norms, own_norms,
          Figure("Elementwise kernels of a layer",
                 kernels + deployment.engine.kernels.recurrent_kernels * layers.recurrent / layers.total,
                 "with those of recurrent layers, mean over the layers")};
}

// Bytes of a norm with a residual addition.
Bytes BytesOfNorm(const Deployment& deployment, Ratio rows) {
  const Ratio hidden = deployment.shapes.hidden;
  if (!deployment.model.compressed)
    return Figure("Bytes of a norm", 6 * kB * rows * hidden, "with the residual addition");
  return Figure("Bytes of a norm", (6 * Ratio(deployment.model.compressed->streams) + 4) * kB * rows * hidden,
                "with the residual streams, read to be mixed and again to be added to, and written");
}

// Norms, residual and activation in separate kernels. The activation of experts is part of their kernels.
KernelTime Elementwise(const Deployment& deployment, Ratio rows, const NormKernels& made) {
  const EngineKernels& engine = deployment.engine.kernels;
  const Ratio hidden = deployment.shapes.hidden;
  const Ratio activation_bytes = deployment.InputAt("model.gated", ActivationOf(deployment.model).forward);
  const Bytes norm = BytesOfNorm(deployment, rows),
              own_norm = Figure("Bytes of a norm", 4 * kB * rows * hidden, "without an addition"),
              activated = Figure("Bytes of the activation", activation_bytes * kB * rows * MeanInner(deployment)),
              extra =
                  Figure("Bytes of further passes",
                         engine.elementwise_bytes * kB * rows * hidden / deployment.mapping.tp, "bias and transpose");
  const auto time_of = [&](Bytes bytes) { return ElementwiseTime(deployment, bytes); };
  const Seconds launches = made.kernels * engine.elementwise_launch * *deployment.device.efficiency.launch_latency;
  KernelTime kernel;
  kernel.time = Figure(
      "Norms, residual and activation",
      launches + made.norms * time_of(norm) + made.own_norms * time_of(own_norm) + time_of(activated) + time_of(extra),
      "a launch latency per kernel; data not in L2 at the engine's bandwidth efficiency");
  kernel.bytes = Figure("Memory traffic of norms, residual and activation",
                        made.norms * norm + made.own_norms * own_norm + activated + extra);
  kernel.bound = launches > kernel.time / 2 ? Bound::kLatency : SlowestStream(deployment.device).bound;
  return kernel;
}

// All-reduces the sums of squares of queries and keys, in fp32, where one norm spans the heads of all ranks (vLLM's and
// SGLang's layers of MiniMax-M2; OLMo 2 gathers the heads instead).
ExchangeCost ExchangeOfSums(const Deployment& deployment, Ratio rows, bool waits_for_host) {
  if (deployment.model.norms.queries_and_keys != QkNorm::kAllHeads || !(deployment.layers.attention > 0)) return {};
  return AllReduce(deployment, Figure("Sums of squares of queries and keys", 8 * kB * rows), waits_for_host);
}

}  // namespace

LayerCost TimeLayer(const Deployment& deployment, Ratio rows, Phase phase, OperatorBreakdown& operators) {
  const Model& model = deployment.model;
  const ServedLayers& layers = deployment.layers;
  const Adder add{deployment, rows, operators, layers.total};
  LayerCost layer;
  if (layers.attention > 0) layer.projections = MeanProjections(add, phase);
  if (layers.recurrent > 0)
    layer.recurrent =
        Figure("Projections of a recurrent layer", add.In(layers.recurrent).Products(deployment.shapes.recurrence));
  if (layers.dense > 0) layer.mlp = MlpOf(add);
  if (model.layer_embeddings.width > 0) layer.inputs = LayerInputs(deployment, rows, phase, operators);
  if (model.moe) SetExperts(add.In(layers.moe), phase, layer);
  // Parallel attention and MLP share a norm, a residual addition and an all-reduce.
  const Ratio halves = deployment.InputAt("model.parallel_attention", Ratio(ResidualAdditions(model)));
  const NormKernels norms = NormKernelsOf(deployment, halves);
  layer.elementwise = add("norms, activation, residual", Elementwise(deployment, rows, norms));

  const bool waits_for_host = phase == Phase::kDecode && !deployment.launch.graphs;
  const ExchangeCost reduction = AllReduce(deployment, ResidualBytes(rows, Ratio(model.hidden)), waits_for_host);
  operators.Add("all-reduce", reduction.kernel, halves * layers.total);
  if (deployment.mapping.devices_per_group > 1)
    layer.reductions =
        Figure("All-reduces per layer", halves * reduction.kernel.time, "after attention and after the MLP");
  const KernelTime sums = ExchangeOfSums(deployment, rows, waits_for_host).kernel;
  if (sums.time > Seconds{}) {
    operators.Add("all-reduce of norms", sums, layers.attention);
    layer.reductions = Figure("All-reduces per layer", layer.reductions + layers.attention / layers.total * sums.time,
                              "with that of the norms of queries and keys");
  }
  const LayerLaunches launches = LaunchesOf(deployment, rows, phase, {halves, norms.kernels, reduction.launched_apart});
  layer.operations = launches.operations;
  layer.gaps = add("launch overhead", Waiting(launches.gaps));
  return layer;
}

Seconds TimeHead(const Deployment& deployment, Ratio rows, bool waits_for_host, OperatorBreakdown& operators) {
  const LayerWidths& widths = deployment.shapes.widths;
  const KernelTime product = TimeProduct(deployment, HeadProduct(deployment.model, widths), rows);
  // Logits are in fp32, written and read; the maximum of a rank is a value and its index.
  const Bytes logit = 8 * kB;
  const Stream data = SlowestStream(deployment.device);
  const Seconds gathered =
      AllReduce(deployment, Figure("Maxima that the ranks exchange", logit * rows), waits_for_host).kernel.time;
  KernelTime choice;
  choice.bytes = Figure("Logits", logit * rows * widths.vocab, "in fp32, written and read");
  const Seconds written =
      Figure("Time to write and read the logits",
             choice.bytes / (deployment.engine.kernels.logit_bandwidth_efficiency * data.bandwidth));
  choice.time = Figure("Sampling", written + gathered, "with the ranks' exchange of their maxima");
  choice.memory = choice.time;
  choice.bound = data.bound;
  operators.Add("LM head", product, 1);
  operators.Add("sampling", choice, 1);
  return Figure("LM head and sampling", product.time + choice.time);
}

}  // namespace slipstick
