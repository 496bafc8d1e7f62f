#include "core/serving/deployment.h"

#include <algorithm>

#include "core/collectives/fabric.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

double Divided(double whole, double parts) { return std::ceil(whole / parts - 1e-9); }

bool IsWeightOnly(Precision weights) {
  return weights == Precision::kInt4 || weights == Precision::kInt8 || weights == Precision::kMxfp4 || weights == Precision::kQ4KM ||
         weights == Precision::kQ8_0;
}

// What checkpoints leave in 16 bit: embedding and head everywhere but in files that are one mixture; attention where only
// the experts are quantized (int4 and mxfp4 experts), or where it is latent and the rest nvfp4.
void ResolveFormats(Deployment& d) {
  const Precision weights = d.load.precision.weights;
  const bool experts_only = d.model.moe && (weights == Precision::kInt4 || weights == Precision::kMxfp4);
  const bool latent_kept = d.model.mla && IsFourBitFloat(weights);
  const bool one_mixture = weights == Precision::kQ4KM || weights == Precision::kQ8_0;
  d.mlp_weights = weights;
  d.attention_weights = experts_only || latent_kept ? Precision::kBf16 : weights;
  d.head_weights = one_mixture || BytesPerElement(weights) > 2 ? weights : Precision::kBf16;
  d.activations = d.load.precision.activations;
  if (IsWeightOnly(weights) && BytesPerElement(d.activations) < 1) d.activations = Precision::kBf16;
  d.attention_activations = experts_only || latent_kept ? Precision::kBf16 : d.activations;
  d.cache = d.load.precision.kv_cache;
}

// The rate of the innermost level whose units hold `ranks` devices.
BytesPerSecond LinkOf(const Cluster& cluster, double ranks) {
  double joined = 1;
  for (const NetworkLevel& level : cluster.networks) {
    joined *= static_cast<double>(level.size);
    if (joined >= ranks) return level.bandwidth;
  }
  return cluster.networks.empty() ? 1 * kGBps : cluster.networks.back().bandwidth;
}

// Whether every rank can read every other one's memory over one level of links made for it.
bool PeersReachEachOther(const Cluster& cluster, double ranks) {
  if (cluster.networks.empty() || static_cast<double>(cluster.networks.front().size) < ranks) return false;
  return cluster.networks.front().fabric->peer_access;
}

// The first of the engine's rows that fits: kernels of one scale-up domain need all ranks in it.
const ExchangeKernels* ExchangeOf(const Deployment& d) {
  if (d.attention_dp <= 1 || d.expert_ranks > 1 || d.cluster.networks.empty()) return nullptr;
  const Count domain = d.cluster.networks.front().size;
  const auto suits = [&](ExchangeKernel kernel) { return kernel != ExchangeKernel::kDomain || d.ep <= static_cast<double>(domain); };
  for (const ExchangeKernels& row : d.engine.communication.expert_exchange) {
    const bool holds = static_cast<double>(row.min_ranks) <= d.ep && row.min_domain_size <= domain;
    if (holds && suits(row.decode) && suits(row.prefill)) return &row;
  }
  return nullptr;
}

}  // namespace

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load) {
  Deployment d{model, cluster, load, load.engine, cluster.device};
  CompleteEfficiency(d.device);
  const Engine& engine = load.engine;
  const double cores = engine.compiled_graph ? static_cast<double>(engine.compiled_graph->cores) : 1;
  d.devices_per_group = static_cast<double>(load.mapping.tp);
  d.tp = d.devices_per_group * cores;
  d.pp = static_cast<double>(load.mapping.pp);
  d.ep = static_cast<double>(load.mapping.ep);
  d.attention_dp = static_cast<double>(load.mapping.attention_dp);
  d.replicas = static_cast<double>(load.mapping.replicas.value_or(1));
  d.expert_ranks = std::max(1.0, d.devices_per_group * d.attention_dp / d.ep);
  if (model.moe) d.experts = static_cast<double>(model.moe->experts + load.redundant_experts);

  d.layers = static_cast<double>(model.layers);
  d.stage_layers = Divided(d.layers, d.pp);
  d.window_layers = static_cast<double>(model.WindowLayers());
  d.moe_layers = static_cast<double>(model.MoeLayers());
  d.dense_layers = static_cast<double>(model.MlpLayers()) - d.moe_layers;
  d.attention_layers = static_cast<double>(model.AttentionLayers());
  d.linear_layers = d.layers - d.attention_layers;
  d.hidden = static_cast<double>(model.hidden);
  d.head_dim = static_cast<double>(model.HeadDim());
  const auto heads = static_cast<double>(model.heads);
  const auto kv_heads = static_cast<double>(model.KvHeads());
  d.widths = WidthsOf(model, d.tp, d.expert_ranks);
  d.attention = MixerProducts(model, Mixer::kFullAttention, d.widths);
  if (model.linear_attention) d.recurrence = MixerProducts(model, Mixer::kRecurrence, d.widths);
  d.mlp = FeedForwardProducts(model, FeedForward::kDense, d.widths);
  if (model.moe) d.expert_mlp = FeedForwardProducts(model, FeedForward::kExperts, d.widths);
  d.cp = static_cast<double>(load.mapping.cp);
  d.core_heads = d.widths.heads * d.cp;
  d.core_kv_heads = std::max(1.0, Divided(kv_heads * d.cp, d.tp));
  d.padded_heads = engine.kernels.pads_heads ? d.widths.heads * d.tp : heads;
  d.padded_kv_heads = engine.kernels.pads_heads ? d.widths.kv_heads * d.tp : std::max(kv_heads, d.tp);

  ResolveFormats(d);

  d.graphs = engine.kernels.graphs;
  d.expert_matrix = engine.kernels.expert_gemm_efficiency;
  d.expert_stream = engine.kernels.expert_bandwidth_efficiency;
  for (const EngineOn& on : engine.on) {
    if (on.architecture != d.device.architecture) continue;
    d.graphs = on.graphs.value_or(d.graphs);
    d.expert_matrix = on.expert_gemm_efficiency.value_or(d.expert_matrix);
    d.expert_stream = on.expert_bandwidth_efficiency.value_or(d.expert_stream);
  }
  d.graphs = load.cuda_graphs.value_or(d.graphs);
  d.decode_gap = d.graphs ? 0 * kUs : engine.overhead.launch_gap;
  // Prefill is not captured: it waits for its own launches, at most as long as a step without graphs would.
  d.prefill_gap = d.graphs ? engine.overhead.prefill_launch_gap : engine.overhead.launch_gap;
  // The generation without graphs is a compiled runtime: it launches kernels, not operations of a script, and one step at a time.
  d.operation_launch = d.graphs ? engine.overhead.prefill_launch : 0 * kUs;
  d.steps_ahead = d.graphs ? engine.scheduler.steps_ahead : 0;

  if (PeersReachEachOther(cluster, d.devices_per_group))
    d.custom = RowFor(engine.communication.all_reduce, d.device.architecture, cluster.networks[0].size);
  d.tensor_group = PlaceFirst(cluster, d.devices_per_group);
  d.context_group = PlaceFirst(cluster, d.cp);
  d.experts_group = PlaceFirst(cluster, d.devices_per_group * d.attention_dp);
  d.exchange = ExchangeOf(d);
  d.link = LinkOf(cluster, d.devices_per_group);
  d.hop = LinkOf(cluster, d.DevicesPerReplica());
  return d;
}

}  // namespace slipstick
