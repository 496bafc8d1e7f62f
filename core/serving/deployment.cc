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

ServingDegrees DegreesOf(const ServingLoad& load) {
  const double cores_per_device = load.engine.compiled_graph ? static_cast<double>(load.engine.compiled_graph->cores) : 1;
  ServingDegrees degrees;
  degrees.devices_per_group = static_cast<double>(load.mapping.tp);
  degrees.tp = degrees.devices_per_group * cores_per_device;
  degrees.pp = static_cast<double>(load.mapping.pp);
  degrees.ep = static_cast<double>(load.mapping.ep);
  degrees.attention_dp = static_cast<double>(load.mapping.attention_dp);
  degrees.replicas = static_cast<double>(load.mapping.replicas.value_or(1));
  degrees.cp = static_cast<double>(load.mapping.cp);
  degrees.expert_ranks = std::max(1.0, degrees.devices_per_group * degrees.attention_dp / degrees.ep);
  return degrees;
}

ServedLayers LayersOf(const Model& model, double pp) {
  ServedLayers layers;
  layers.total = static_cast<double>(model.layers);
  layers.per_stage = Divided(layers.total, pp);
  layers.window = static_cast<double>(model.WindowLayers());
  layers.moe = static_cast<double>(model.MoeLayers());
  layers.dense = static_cast<double>(model.MlpLayers()) - layers.moe;
  layers.attention = static_cast<double>(model.AttentionLayers());
  layers.recurrent = layers.total - layers.attention;
  return layers;
}

RankShapes ShapesOf(const Model& model, const ServingLoad& load, const ServingDegrees& mapping) {
  RankShapes shapes;
  const auto heads = static_cast<double>(model.heads), kv_heads = static_cast<double>(model.KvHeads());
  shapes.hidden = static_cast<double>(model.hidden);
  shapes.head_dim = static_cast<double>(model.HeadDim());
  shapes.widths = WidthsOf(model, mapping.tp, mapping.expert_ranks);
  shapes.attention = MixerProducts(model, Mixer::kFullAttention, shapes.widths);
  if (model.linear_attention) shapes.recurrence = MixerProducts(model, Mixer::kRecurrence, shapes.widths);
  shapes.mlp = FeedForwardProducts(model, FeedForward::kDense, shapes.widths);
  if (model.moe) {
    shapes.expert_mlp = FeedForwardProducts(model, FeedForward::kExperts, shapes.widths);
    shapes.experts = static_cast<double>(model.moe->experts + load.redundant_experts);
  }
  shapes.decode_heads = shapes.widths.heads * mapping.cp;
  shapes.decode_kv_heads = std::max(1.0, Divided(kv_heads * mapping.cp, mapping.tp));
  const bool pads = load.engine.kernels.pads_heads;
  shapes.padded_heads = pads ? shapes.widths.heads * mapping.tp : heads;
  shapes.padded_kv_heads = pads ? shapes.widths.kv_heads * mapping.tp : std::max(kv_heads, mapping.tp);
  return shapes;
}

// Checkpoints keep these in 16 bit: embedding and head, except in llama.cpp's mixtures (Q4_K_M, Q8_0); attention, where only the
// experts are quantized (int4 and mxfp4 experts) or where it is latent and the rest is nvfp4.
ServedFormats FormatsOf(const Model& model, const ServingPrecision& requested) {
  const Precision weights = requested.weights;
  const bool experts_only = model.moe && (weights == Precision::kInt4 || weights == Precision::kMxfp4);
  const bool latent_kept = model.mla && IsFourBitFloat(weights);
  const bool is_mixture = weights == Precision::kQ4KM || weights == Precision::kQ8_0;
  ServedFormats formats;
  formats.mlp_weights = weights;
  formats.attention_weights = experts_only || latent_kept ? Precision::kBf16 : weights;
  formats.head_weights = is_mixture || BytesPerElement(weights) > 2 ? weights : Precision::kBf16;
  formats.activations = requested.activations;
  if (IsWeightOnly(weights) && BytesPerElement(formats.activations) < 1) formats.activations = Precision::kBf16;
  formats.attention_activations = experts_only || latent_kept ? Precision::kBf16 : formats.activations;
  formats.kv_cache = requested.kv_cache;
  return formats;
}

void SetLaunches(Deployment& deployment) {
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  launch.graphs = engine.kernels.graphs;
  launch.per_sequence = engine.overhead.per_sequence;
  deployment.expert_gemm_efficiency = engine.kernels.expert_gemm_efficiency;
  deployment.expert_bandwidth_efficiency = engine.kernels.expert_bandwidth_efficiency;
  for (const EngineOn& on : engine.on) {
    if (on.architecture != deployment.device.architecture) continue;
    launch.graphs = on.graphs.value_or(launch.graphs);
    launch.per_sequence = on.per_sequence.value_or(launch.per_sequence);
    deployment.expert_gemm_efficiency = on.expert_gemm_efficiency.value_or(deployment.expert_gemm_efficiency);
    deployment.expert_bandwidth_efficiency = on.expert_bandwidth_efficiency.value_or(deployment.expert_bandwidth_efficiency);
  }
  launch.graphs = deployment.load.cuda_graphs.value_or(launch.graphs);
  launch.decode_gap = launch.graphs ? 0 * kUs : engine.overhead.launch_gap;
  // Graphs do not capture a prefill: it has gaps of its own, at most those of a step without graphs.
  launch.prefill_gap = launch.graphs ? engine.overhead.prefill_launch_gap : engine.overhead.launch_gap;
  // Engines without graphs are compiled runtimes: they launch kernels, not operations of a script, one step at a time.
  launch.per_operation = launch.graphs ? engine.overhead.prefill_launch : 0 * kUs;
  launch.steps_ahead = launch.graphs ? engine.scheduler.steps_ahead : 0;
}

// Bandwidth of the innermost level that joins `ranks` devices.
BytesPerSecond LinkOf(const Cluster& cluster, double ranks) {
  double joined = 1;
  for (const NetworkLevel& level : cluster.networks) {
    joined *= static_cast<double>(level.size);
    if (joined >= ranks) return level.bandwidth;
  }
  return cluster.networks.empty() ? 1 * kGBps : cluster.networks.back().bandwidth;
}

// Whether all ranks can read each other's memory over the innermost level.
bool PeersReachEachOther(const Cluster& cluster, double ranks) {
  if (cluster.networks.empty() || static_cast<double>(cluster.networks.front().size) < ranks) return false;
  return cluster.networks.front().fabric->peer_access;
}

// The engine's first row that fits. Kernels for one scale-up domain need all ranks inside it.
const ExchangeKernels* ExchangeOf(const Deployment& deployment) {
  const ServingDegrees& mapping = deployment.mapping;
  if (mapping.attention_dp <= 1 || mapping.expert_ranks > 1 || deployment.cluster.networks.empty()) return nullptr;
  const Count domain = deployment.cluster.networks.front().size;
  const auto suits = [&](ExchangeKernel kernel) { return kernel != ExchangeKernel::kDomain || mapping.ep <= static_cast<double>(domain); };
  for (const ExchangeKernels& row : deployment.engine.communication.expert_exchange) {
    const bool holds = static_cast<double>(row.min_ranks) <= mapping.ep && row.min_domain_size <= domain;
    if (holds && suits(row.decode) && suits(row.prefill)) return &row;
  }
  return nullptr;
}

void PlaceGroups(Deployment& deployment) {
  const Cluster& cluster = deployment.cluster;
  const ServingDegrees& mapping = deployment.mapping;
  ServingNetwork& network = deployment.network;
  if (PeersReachEachOther(cluster, mapping.devices_per_group)) {
    network.custom_all_reduce =
        RowFor(deployment.engine.communication.all_reduce, deployment.device.architecture, cluster.networks[0].size);
  }
  network.tensor_group = PlaceFirst(cluster, mapping.devices_per_group);
  network.context_group = PlaceFirst(cluster, mapping.cp);
  network.experts_group = PlaceFirst(cluster, mapping.devices_per_group * mapping.attention_dp);
  network.expert_exchange = ExchangeOf(deployment);
  network.link = LinkOf(cluster, mapping.devices_per_group);
  network.stage_link = LinkOf(cluster, mapping.DevicesPerReplica());
}

}  // namespace

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load) {
  Deployment deployment{model, cluster, load, load.engine, cluster.device};
  CompleteEfficiency(deployment.device);
  deployment.mapping = DegreesOf(load);
  deployment.layers = LayersOf(model, deployment.mapping.pp);
  deployment.shapes = ShapesOf(model, load, deployment.mapping);
  deployment.formats = FormatsOf(model, load.precision);
  SetLaunches(deployment);
  PlaceGroups(deployment);
  return deployment;
}

}  // namespace slipstick
