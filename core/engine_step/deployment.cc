#include "core/engine_step/deployment.h"

#include <limits>
#include <optional>
#include <string>

#include "core/base/figure.h"
#include "core/collectives/group_view.h"
#include "core/operators/efficiency.h"
#include "core/operators/roofline.h"
#include "core/software/tuning.h"

namespace slipstick {
namespace {

// Ranks of a tensor-parallel group: devices, or their cores where an engine splits each device.
Ratio TensorRanks(const ServingLoad& load) {
  const Ratio devices(load.mapping.tp);
  if (!load.engine.compiled_graph) return devices;
  return Figure("Tensor-parallel ranks", devices * Ratio(load.engine.compiled_graph->cores),
                "every core of a device is one");
}

// The attention groups of a replica step together. With fewer requests than groups in the system, some have no prompt.
Ratio PrefillingGroups(const Deployment& deployment) {
  const ServingDegrees& mapping = deployment.mapping;
  const ServingLoad& load = deployment.load;
  if (load.requests_per_s || load.sessions || (!load.concurrency && load.batch.max)) return mapping.attention_dp;
  const Ratio requests = load.concurrency ? Ratio(*load.concurrency) / mapping.replicas
                                          : deployment.InputAt("serving.batch", Ratio(load.batch.count));
  return Figure("Attention groups that prefill together", min(mapping.attention_dp, max(1.0, requests)),
                "no more than the requests of a replica");
}

ServingDegrees DegreesOf(const ServingLoad& load) {
  const ServingMapping& mapping = load.mapping;
  ServingDegrees degrees;
  degrees.devices_per_group = mapping.tp;
  degrees.tp = TensorRanks(load);
  degrees.pp = mapping.pp;
  degrees.ep = mapping.ep;
  degrees.attention_dp = mapping.attention_dp;
  degrees.replicas = mapping.replicas.value_or(1);
  degrees.cp = mapping.cp;
  degrees.prefill_cp = mapping.prefill_cp;
  degrees.context_ranks = Figure("Ranks that each hold a part of a context", degrees.cp * degrees.prefill_cp);
  degrees.expert_ranks =
      Figure("Devices that share an expert", max(1.0, degrees.devices_per_group * degrees.attention_dp / degrees.ep));
  return degrees;
}

// Layers of each kind are spread evenly over the stages, to within one layer.
LayerCounts MostLoadedStage(const ServedLayers& layers, Ratio pp) {
  const auto most = [&](std::string_view title, Ratio count) {
    return Figure(title, min(layers.per_stage, ceil(count / pp)), "spread evenly over the stages, to within one layer");
  };
  LayerCounts stage;
  stage.attention = most("Layers with attention on a stage", layers.attention);
  stage.window = most("Layers with a sliding window on a stage", layers.window);
  if (layers.recurrent > 0) stage.recurrent = most("Recurrent layers on a stage", layers.recurrent);
  if (layers.moe > 0) stage.moe = most("Layers with experts on a stage", layers.moe);
  stage.dense = most("Layers with a dense MLP on a stage", layers.dense);
  stage.shared_kv = layers.shared_kv, stage.shared_kv_window = layers.shared_kv_window;  // on a single stage
  return stage;
}

ServedLayers LayersOf(const Model& model, Ratio pp) {
  ServedLayers layers{CountLayers(model)};
  layers.total = model.layers;
  layers.full = Figure("Layers that attend to the whole context", layers.attention - layers.window);
  layers.per_stage = Figure("Layers of the longest pipeline stage", ceil(layers.total / pp));
  layers.on_stage = MostLoadedStage(layers, pp);
  return layers;
}

// A size in layers with a sliding window: as stated for them, or that of the other layers (`own` is then 0).
Ratio OfLocal(std::string_view title, Tally own, Ratio of_others) {
  const Ratio stated(own);
  return Figure(title, stated + max(0, 1 - stated) * of_others, "as stated, or that of the others");
}

// Heads in decode: under context parallelism a rank has the heads of all ranks that share its contexts.
void SetDecodeHeads(const Deployment& deployment, RankShapes& shapes) {
  const Model& model = deployment.model;
  const ServingDegrees& mapping = deployment.mapping;
  const auto kv_heads_of = [&](std::string_view title, Ratio kv_heads) {
    return Figure(title, max(1.0, ceil(kv_heads * mapping.cp / mapping.tp)),
                  "at least one; of all ranks that share its contexts");
  };
  shapes.decode_heads = Figure("Query heads of a rank in decode", shapes.widths.heads * mapping.cp,
                               "of all ranks that share its contexts");
  const Ratio kv_heads = deployment.InputAt("model.kv_heads", Ratio(model.KvHeads()));
  shapes.decode_kv_heads = shapes.decode_window_kv_heads = kv_heads_of("KV heads of a rank in decode", kv_heads);
  if (!model.HasWindows()) return;
  const Ratio window_kv_heads = OfLocal("KV heads of a local layer", model.window.kv_heads, kv_heads);
  shapes.decode_window_kv_heads = kv_heads_of("KV heads of a rank in decode, local layers", window_kv_heads);
}

// Heads of the whole model in an engine that pads them to the ranks; each rank has at least one KV head.
void SetPaddedHeads(const Deployment& deployment, RankShapes& shapes) {
  const Model& model = deployment.model;
  const Ratio tp = deployment.mapping.tp;
  if (!deployment.engine.kernels.pads_heads) {
    shapes.padded_heads = model.heads;
    shapes.padded_kv_heads =
        Figure("KV heads of all ranks", max(deployment.InputAt("model.kv_heads", Ratio(model.KvHeads())), tp),
               "at least one each");
    return;
  }
  shapes.padded_heads = Figure("Query heads of all ranks", shapes.widths.heads * tp, "padded");
  shapes.padded_kv_heads = Figure("KV heads of all ranks", shapes.widths.kv_heads * tp, "padded");
}

// Elements of the state of a recurrent layer, and a rank's share of them.
void SetState(const LinearAttention& linear, RankShapes& shapes) {
  const Ratio value_heads(linear.heads), stated_key_heads(linear.key_heads), value_dim(linear.head_dim),
      state(linear.state), convolved = max(0, Ratio(linear.convolution) - 1);
  const Ratio inner = value_heads * value_dim;
  const Ratio key_heads =
      Figure("Key heads of the recurrence", stated_key_heads + max(0, 1 - stated_key_heads) * value_heads,
             "as stated, or one per value head");
  shapes.state_elements =
      Figure("Elements of a layer's recurrent state",
             linear.kind == LinearAttentionKind::kMamba ? inner * (state + convolved)
                                                        : inner * state + (inner + 2 * key_heads * state) * convolved,
             "per sequence: of the recurrence and of the short convolution");
  shapes.state_share = Figure("Share of the recurrent state on one device", shapes.widths.recurrent_inner / inner);
}

RankShapes ShapesOf(const Deployment& deployment) {
  const Model& model = deployment.model;
  RankShapes shapes;
  shapes.hidden = model.hidden;
  shapes.head_dim = deployment.InputAt("model.head_dim", Ratio(model.HeadDim()));
  shapes.window_head_dim = OfLocal("Head dimension of a local layer", model.window.head_dim, shapes.head_dim);
  shapes.widths = WidthsOf(model, deployment.mapping.tp, deployment.mapping.expert_ranks);
  shapes.attention = MixerProducts(model, Mixer::kFullAttention, shapes.widths);
  shapes.window_attention = MixerProducts(model, Mixer::kWindow, shapes.widths);
  if (model.linear_attention) {
    shapes.recurrence = MixerProducts(model, Mixer::kRecurrence, shapes.widths);
    SetState(*model.linear_attention, shapes);
  }
  shapes.mlp = FeedForwardProducts(model, FeedForward::kDense, shapes.widths);
  if (model.SharesKv()) {
    shapes.shared_kv_attention = MixerProducts(model, Mixer::kSharedKv, shapes.widths);
    shapes.shared_kv_window_attention = MixerProducts(model, Mixer::kSharedKvWindow, shapes.widths);
    shapes.shared_kv_mlp = FeedForwardProducts(model, FeedForward::kDense, SharedKvWidths(shapes.widths));
  }
  if (model.moe) {
    shapes.expert_mlp = FeedForwardProducts(model, FeedForward::kExperts, shapes.widths);
    shapes.experts = Figure("Experts of a layer", Ratio(model.moe->experts) + Ratio(deployment.load.redundant_experts),
                            "with their redundant copies");
  }
  SetDecodeHeads(deployment, shapes);
  SetPaddedHeads(deployment, shapes);
  return shapes;
}

// Sizes of elements, each with the node of the input that chose its format.
ElementSizes SizesOf(const Deployment& deployment) {
  const ServedFormats& formats = deployment.formats;
  const auto weights = [&](Bytes size, bool is_kept) {
    if (is_kept && formats.keeps_as_model && size < 2 * kB) return deployment.InputAt("model.compressed.weights", size);
    if (is_kept && !formats.keeps_as_engine) return size;  // in 16 bit
    return deployment.InputAt(is_kept ? "serving.engine.kept_weights" : "serving.precision.weights", size);
  };
  ElementSizes sizes = formats.sizes;
  sizes.mlp_weights = weights(sizes.mlp_weights, false);
  sizes.attention_weights = weights(sizes.attention_weights, formats.keeps_attention);
  sizes.head_weights = weights(sizes.head_weights, formats.keeps_head);
  sizes.activations = deployment.InputAt("serving.precision.activations", sizes.activations);
  if (formats.keeps_as_model) {
    sizes.attention_activations = deployment.InputAt("model.compressed.weights", sizes.attention_activations);
  } else if (!formats.keeps_attention) {
    sizes.attention_activations = deployment.InputAt("serving.precision.activations", sizes.attention_activations);
  }
  sizes.kv_cache = deployment.InputAt("serving.precision.kv_cache", sizes.kv_cache);
  sizes.state = deployment.InputAt("serving.precision.state", sizes.state);
  return sizes;
}

template <class Member, class T>
void OverrideIfStated(Member& member, const std::optional<T>& value) {
  if (value) member = *value;
}

// Returns the engine's row that states whether decode steps replay a CUDA graph; nothing if no row does.
std::optional<std::size_t> SetByArchitecture(Deployment& deployment) {
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  launch.graphs = engine.kernels.graphs;
  launch.launch_gap = engine.overhead.launch_gap;
  launch.step = engine.overhead.step;
  launch.per_sequence = engine.overhead.per_sequence;
  launch.per_sequence_host = engine.overhead.per_sequence_host;
  deployment.quantizes_apart = engine.kernels.quantizes_apart;
  deployment.expert_gemm_efficiency = engine.kernels.expert_gemm_efficiency;
  deployment.expert_bandwidth_efficiency = engine.kernels.expert_bandwidth_efficiency;
  std::optional<std::size_t> graphs_row;
  for (std::size_t i = 0; i < engine.on.size(); ++i) {
    const EngineOn& on = engine.on[i];
    if (on.architecture != deployment.cluster.device.architecture) continue;
    if (on.graphs) launch.graphs = *on.graphs, graphs_row = i;
    if (on.launch_gap) launch.launch_gap = *on.launch_gap, launch.gap_row = i;
    OverrideIfStated(deployment.quantizes_apart, on.quantizes_apart);
    OverrideIfStated(deployment.mixes_attention, on.mixes_attention);
    OverrideIfStated(deployment.triton_latent, on.triton_latent);
    OverrideIfStated(deployment.latent_head_dim, on.latent_head_dim);
    OverrideIfStated(deployment.visits_held_experts, on.visits_held_experts);
    OverrideIfStated(launch.step, on.step);
    OverrideIfStated(launch.per_sequence, on.per_sequence);
    OverrideIfStated(deployment.expert_gemm_efficiency, on.expert_gemm_efficiency);
    OverrideIfStated(deployment.expert_bandwidth_efficiency, on.expert_bandwidth_efficiency);
    OverrideIfStated(deployment.stored_tile_rows, on.stored_tile_rows);
    OverrideIfStated(deployment.stored_efficiency, on.stored_efficiency);
    if (!HasWeightOnlyExperts(deployment.formats)) continue;
    if (on.weight_only_per_clock) {
      const Device& device = deployment.cluster.device;
      deployment.expert_gemm_efficiency =
          Figure("Efficiency of expert products with narrow weights",
                 min(deployment.expert_gemm_efficiency, *on.weight_only_per_clock * Ratio(device.units) * device.clock /
                                                            PeakRate(device, Precision::kBf16)),
                 "instructions that older devices have too");
    }
    OverrideIfStated(deployment.expert_bandwidth_efficiency, on.weight_only_bandwidth_efficiency);
  }
  return graphs_row;
}

// Path of an engine's field; with `row`, of that field in row `row` of `on`, for the device's architecture.
std::string EnginePath(std::optional<std::size_t> row, std::string_view field) {
  return "serving.engine." + (row ? "on." + std::to_string(*row) + "." : "") + std::string(field);
}

void SetLaunches(Deployment& deployment) {
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  const std::optional<std::size_t> graphs_row = SetByArchitecture(deployment);
  launch.graphs = deployment.load.cuda_graphs.value_or(launch.graphs);
  const std::string by_graphs = deployment.load.cuda_graphs ? "serving.cuda_graphs" : EnginePath(graphs_row, "graphs");
  // No graph can span the experts that the processor computes.
  launch.decode_gap =
      launch.graphs && !deployment.load.host_experts ? deployment.InputAt(by_graphs, 0 * kUs) : launch.launch_gap;
  // Graphs do not capture a prefill: it has its own launch gaps, at most those of a step without graphs.
  launch.prefill_gap = launch.graphs ? engine.overhead.prefill_launch_gap : launch.launch_gap;
  // Engines without graphs are compiled runtimes: they launch kernels, not operations of a script, one step at a time.
  launch.per_operation = launch.graphs ? engine.overhead.prefill_launch : deployment.InputAt(by_graphs, 0 * kUs);
  launch.steps_ahead = launch.graphs ? engine.scheduler.steps_ahead : deployment.InputAt(by_graphs, Ratio(0));
}

void SetTuning(Deployment& deployment) {
  const Tuning& tuning = deployment.load.tuning;
  LaunchOverheads& launch = deployment.launch;
  const bool has_experts = deployment.model.moe.has_value();
  const TuningFactor step =
      StepFactor(tuning, deployment.engine, has_experts ? std::optional(deployment.formats.mlp_weights) : std::nullopt,
                 deployment.cluster.device.architecture);
  deployment.step_factor = deployment.engine.plain ? deployment.InputAt(step.path, step.value) : step.value;
  // The factors were measured on models whose layers all have experts, or all but a few.
  const ServedLayers& layers = deployment.layers;
  if (layers.moe > 0 && layers.moe < layers.total)
    deployment.step_factor =
        Figure("Decode step over a tuned run's", 1 + (deployment.step_factor - 1) * layers.moe / layers.total,
               "layers with experts alone");
  // A host that launches steps ahead works on the sequences beside the devices; its work after a step delays the next.
  const Ratio beside = Figure("Share of the host's work beside the devices", min(1.0, launch.steps_ahead),
                              "all of it if steps are launched ahead");
  const Seconds host = launch.per_sequence_host,
                between = Figure("Work on a sequence between two steps", launch.per_sequence + (1 - beside) * host);
  launch.per_sequence = SequenceAsRun(tuning, deployment.engine, has_experts, between, 1 - beside);
  launch.per_sequence_host =
      SequenceAsRun(tuning, deployment.engine, has_experts,
                    Figure("Host's work on a sequence beside the devices", beside * host), beside);
  if (launch.graphs) launch.per_operation = LaunchAsRun(tuning, deployment.engine, launch.per_operation);
}

// The innermost level that joins `ranks` devices, and the number of devices in one of its units.
struct JoiningLevel {
  std::size_t level = 0;
  double below = 1;
};
JoiningLevel LevelOf(const Cluster& cluster, double ranks) {
  JoiningLevel found;
  while (found.level + 1 < cluster.networks.size() &&
         found.below * static_cast<double>(cluster.networks[found.level].size) < ranks) {
    found.below *= static_cast<double>(cluster.networks[found.level++].size);
  }
  return found;
}

BytesPerSecond LinkOf(const Cluster& cluster, double ranks) {
  return cluster.networks.empty() ? 1 * kGBps : cluster.networks[LevelOf(cluster, ranks).level].bandwidth;
}

// The route from a device to the one `stride` devices further, over the innermost level that joins `ranks` devices.
Route RouteOver(const Cluster& cluster, double ranks, double stride) {
  if (cluster.networks.empty()) return {.link = 1 * kGBps};
  const JoiningLevel found = LevelOf(cluster, ranks);
  Route route;
  route.level = found.level;
  const NetworkLevel& level = cluster.networks[route.level];
  const double farthest = max(1.0, static_cast<double>(level.size) / 2);
  const NeighborWire wire =
      NeighborOf(cluster, route.level, max(1.0, min(stride / found.below, farthest)), ranks / found.below);
  const Ratio size(level.size);
  route.link = level.bandwidth;
  if (wire.share != 1) {
    route.share = Procedure("Share of the bandwidth on the wire to the next rank", Ratio(wire.share), {size},
                            "as the topology splits it", "",
                            {{"the wire to the next rank", wire.share}, {"through a switch", Ratio(1)}});
    route.link =
        Figure("Bandwidth of a device on this way", route.share * level.bandwidth, "as the topology splits it");
  }
  route.wires = wire.hops > 1 ? Procedure("Wires in a row", Ratio(wire.hops), {size}, "through the devices in between")
                              : Ratio(wire.hops);
  route.wire_latency = level.hop_latency.value_or(level.latency);
  return route;
}

// Whether all ranks can read each other's memory over the innermost level.
bool PeersReachEachOther(const Cluster& cluster, double ranks) {
  if (cluster.networks.empty() || static_cast<double>(cluster.networks.front().size) < ranks) return false;
  return cluster.networks.front().fabric->peer_access;
}

// The first row of the engine that applies. Kernels for one scale-up domain need all ranks inside it.
const ExchangeKernels* ExchangeOf(const Deployment& deployment) {
  const ServingDegrees& mapping = deployment.mapping;
  if (mapping.attention_dp <= 1 || mapping.expert_ranks > 1 || deployment.cluster.networks.empty()) return nullptr;
  const Count domain = deployment.cluster.networks.front().size;
  const auto suits = [&](ExchangeKernel kernel) {
    return kernel != ExchangeKernel::kDomain || mapping.ep <= static_cast<double>(domain);
  };
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
  const std::optional<Seconds> second_pass = deployment.engine.communication.second_pass;
  if (second_pass && PeersReachEachOther(cluster, mapping.devices_per_group))
    network.custom_all_reduce = CustomAllReduceOf(deployment.device.architecture->peer_reduce, *second_pass);
  network.tensor_group = PlaceFirst(cluster, mapping.devices_per_group);
  network.context_group = PlaceFirst(cluster, mapping.cp);
  if (mapping.prefill_cp > 1)
    network.prompt_group =
        PlaceGroup(cluster, {{"tp", mapping.devices_per_group}, {"prefill_cp", mapping.prefill_cp}}, "prefill_cp");
  network.experts_group = PlaceFirst(cluster, mapping.devices_per_group * mapping.attention_dp);
  network.expert_exchange = ExchangeOf(deployment);
  network.link = LinkOf(cluster, mapping.devices_per_group);
  const double devices = mapping.DevicesPerReplica();
  network.stage = RouteOver(cluster, devices, devices / mapping.pp);
  if (const std::optional<Disaggregated>& pools = deployment.load.disaggregated) {
    const auto prefill = static_cast<double>(pools->prefill_devices);
    // Devices of another kind are in servers of their own.
    const double joined = pools->prefill_device ? std::numeric_limits<double>::infinity()
                                                : prefill + static_cast<double>(pools->decode_devices);
    network.hand_over = RouteOver(cluster, joined, prefill);
  }
}

}  // namespace

Deployment DeployOn(const Cluster& cluster, const Device& device, const Model& model, const ServingLoad& load,
                    const DeploymentNodes* nodes) {
  Deployment deployment{model, cluster, load, load.engine, device};
  deployment.requested = &cluster;
  deployment.nodes = nodes;
  deployment.mapping = DegreesOf(load);
  deployment.mapping.prefilling_groups = PrefillingGroups(deployment);
  deployment.layers = LayersOf(model, deployment.mapping.pp);
  deployment.shapes = ShapesOf(deployment);
  deployment.formats = FormatsOf(model, load.precision, load.engine, device);
  deployment.formats.sizes = SizesOf(deployment);
  SetLaunches(deployment);
  SetTuning(deployment);
  PlaceGroups(deployment);
  return deployment;
}

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load) {
  Device device = cluster.device;
  CompleteEfficiency(device);
  const std::optional<Utilizations>& utilization = load.engine.utilization;
  if (!utilization) return DeployOn(cluster, device, model, load);
  const auto scaled = std::make_shared<const Cluster>(AtUtilizations(cluster, *utilization));
  device = scaled->device;
  CompleteEfficiency(device);
  Deployment deployment = DeployOn(*scaled, device, model, load);
  deployment.requested = &cluster;
  deployment.scaled = scaled;
  return deployment;
}

}  // namespace slipstick
