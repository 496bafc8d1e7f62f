#include "core/engine_step/deployment.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/collectives/fabric.h"
#include "core/collectives/group_view.h"
#include "core/engine_step/as_run.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/operators/roofline.h"

namespace slipstick {
namespace {

constexpr Note kState{"Elements of a layer's recurrent state",
                      "per sequence: of the recurrence and of the short convolution"};

// Ranks of a tensor-parallel group: devices, or their cores where an engine splits each device.
double TensorRanks(const ServingLoad& load, Trace& trace) {
  const auto group_devices = static_cast<double>(load.mapping.tp);
  trace.Alias("group_devices", group_devices, "tp");
  if (!load.engine.compiled_graph) return group_devices;
  const auto cores = static_cast<double>(load.engine.compiled_graph->cores);
  FIGURE(trace, tp, group_devices * cores, (Note{"Tensor-parallel ranks", "every core of a device is one"}),
         group_devices, cores);
  return tp;
}

ServingDegrees DegreesOf(const ServingLoad& load, Trace& trace) {
  ServingDegrees degrees;
  const auto tp = static_cast<double>(load.mapping.tp), ep = static_cast<double>(load.mapping.ep),
             attention_dp = static_cast<double>(load.mapping.attention_dp);
  degrees.devices_per_group = tp;
  degrees.pp = static_cast<double>(load.mapping.pp);
  degrees.ep = ep;
  degrees.attention_dp = attention_dp;
  degrees.replicas = static_cast<double>(load.mapping.replicas.value_or(1));
  const auto cp = static_cast<double>(load.mapping.cp), prefill_cp = static_cast<double>(load.mapping.prefill_cp);
  FIGURE(trace, context_ranks, cp * prefill_cp, (Note{"Ranks that each hold a part of a context", ""}), cp, prefill_cp);
  degrees.cp = cp;
  degrees.prefill_cp = prefill_cp;
  degrees.context_ranks = context_ranks;
  FIGURE(trace, expert_tp, max(1.0, tp * attention_dp / ep), (Note{"Devices that share an expert", ""}), tp,
         attention_dp, ep);
  degrees.expert_ranks = expert_tp;
  degrees.tp = TensorRanks(load, trace);
  return degrees;
}

// Layers of each kind are spread evenly over the stages, to within one layer.
LayerCounts MostLoadedStage(const ServedLayers& layers, double pp, Trace& trace) {
  constexpr std::string_view kEven = "spread evenly over the stages, to within one layer";
  const double stage_layers = layers.per_stage, attention_layers = layers.attention, window_layers = layers.window,
               recurrent_layers = layers.recurrent, moe_layers = layers.moe, dense_layers = layers.dense;
  LayerCounts stage;
  FIGURE(trace, stage_attention, min(stage_layers, ceil(attention_layers / pp)),
         (Note{"Layers with attention on a stage", kEven}), stage_layers, attention_layers, pp);
  FIGURE(trace, stage_window, min(stage_layers, ceil(window_layers / pp)),
         (Note{"Layers with a sliding window on a stage", kEven}), stage_layers, window_layers, pp);
  stage.attention = stage_attention, stage.window = stage_window;
  if (recurrent_layers > 0) {
    FIGURE(trace, stage_recurrent, min(stage_layers, ceil(recurrent_layers / pp)),
           (Note{"Recurrent layers on a stage", kEven}), stage_layers, recurrent_layers, pp);
    stage.recurrent = stage_recurrent;
  }
  if (moe_layers > 0) {
    FIGURE(trace, stage_moe, min(stage_layers, ceil(moe_layers / pp)), (Note{"Layers with experts on a stage", kEven}),
           stage_layers, moe_layers, pp);
    stage.moe = stage_moe;
  }
  FIGURE(trace, stage_dense, min(stage_layers, ceil(dense_layers / pp)),
         (Note{"Layers with a dense MLP on a stage", kEven}), stage_layers, dense_layers, pp);
  stage.dense = stage_dense;
  stage.shared_kv = layers.shared_kv, stage.shared_kv_window = layers.shared_kv_window;  // on a single stage
  return stage;
}

ServedLayers LayersOf(const Model& model, double pp, Trace& trace) {
  ServedLayers counts{CountLayers(model, trace)};
  const auto layers = static_cast<double>(model.layers);
  FIGURE(trace, stage_layers, ceil(layers / pp), (Note{"Layers of the longest pipeline stage", ""}), layers, pp);
  const double attention_layers = counts.attention, window_layers = counts.window;
  FIGURE(trace, full_layers, attention_layers - window_layers, (Note{"Layers that attend to the whole context", ""}),
         attention_layers, window_layers);
  counts.total = layers;
  counts.full = full_layers;
  counts.per_stage = stage_layers;
  counts.on_stage = MostLoadedStage(counts, pp, trace);
  return counts;
}

// Heads in decode: context parallelism gives a rank the heads of all ranks that share its contexts.
void SetDecodeHeads(const Model& model, const ServingDegrees& mapping, RankShapes& shapes, Trace& trace) {
  const double rank_heads = shapes.widths.heads, kv_heads = static_cast<double>(model.KvHeads()), tp = mapping.tp,
               cp = mapping.cp;
  FIGURE(trace, decode_heads, rank_heads * cp,
         (Note{"Query heads of a rank in decode", "of all ranks that share its contexts"}), rank_heads, cp);
  FIGURE(trace, decode_kv_heads, max(1.0, ceil(kv_heads * cp / tp)),
         (Note{"KV heads of a rank in decode", "at least one; of all ranks that share its contexts"}), kv_heads, cp,
         tp);
  shapes.decode_heads = decode_heads;
  shapes.decode_kv_heads = shapes.decode_window_kv_heads = decode_kv_heads;
  if (!model.HasWindows()) return;
  const double window_kv_heads = static_cast<double>(model.WindowKvHeads());
  FIGURE(trace, decode_window_kv_heads, max(1.0, ceil(window_kv_heads * cp / tp)),
         (Note{"KV heads of a rank in decode, local layers", "at least one; of all ranks that share its contexts"}),
         window_kv_heads, cp, tp);
  shapes.decode_window_kv_heads = decode_window_kv_heads;
}

// Heads of the whole model in an engine that pads them to the ranks; each rank has at least one KV head.
void SetPaddedHeads(const Model& model, const ServingDegrees& mapping, bool pads, RankShapes& shapes, Trace& trace) {
  const auto heads = static_cast<double>(model.heads), kv_heads = static_cast<double>(model.KvHeads());
  const double tp = mapping.tp, rank_heads = shapes.widths.heads, rank_kv_heads = shapes.widths.kv_heads;
  if (!pads) {
    FIGURE(trace, padded_kv_heads, max(kv_heads, tp), (Note{"KV heads of all ranks", "at least one each"}), kv_heads,
           tp);
    trace.Alias("padded_heads", heads, "heads");
    shapes.padded_heads = heads;
    shapes.padded_kv_heads = padded_kv_heads;
    return;
  }
  FIGURE(trace, padded_heads, rank_heads * tp, (Note{"Query heads of all ranks", "padded"}), rank_heads, tp);
  FIGURE(trace, padded_kv_heads, rank_kv_heads * tp, (Note{"KV heads of all ranks", "padded"}), rank_kv_heads, tp);
  shapes.padded_heads = padded_heads;
  shapes.padded_kv_heads = padded_kv_heads;
}

// Elements of the state of a recurrent layer, and a rank's share of them.
void SetState(const LinearAttention& linear, RankShapes& shapes, Trace& trace) {
  shapes.state_elements = static_cast<double>(linear.StateElements());
  const auto state = static_cast<double>(linear.state), convolution = static_cast<double>(linear.convolution);
  const auto value_heads = static_cast<double>(linear.heads), stated_key_heads = static_cast<double>(linear.key_heads),
             value_dim = static_cast<double>(linear.head_dim);
  trace.Input("value_heads", value_heads, "model.linear.heads");
  trace.Input("stated_key_heads", stated_key_heads, "model.linear.key_heads");
  FIGURE(trace, key_heads, stated_key_heads + max(0, 1 - stated_key_heads) * value_heads,
         (Note{"Key heads of the recurrence", "as stated, or one per value head"}), stated_key_heads, value_heads);
  trace.Input("value_dim", value_dim, "model.linear.head_dim");
  if (linear.kind == LinearAttentionKind::kMamba) {
    trace.Record("state_elements", "value_heads * value_dim * (state + max(0, convolution - 1))", shapes.state_elements,
                 kState, "value_heads, value_dim, state, convolution", value_heads, value_dim, state, convolution);
  } else {
    trace.Record(
        "state_elements",
        "value_heads * value_dim * state + (value_heads * value_dim + 2 * key_heads * state) * max(0, convolution - 1)",
        shapes.state_elements, kState, "value_heads, value_dim, key_heads, state, convolution", value_heads, value_dim,
        key_heads, state, convolution);
  }
  const double recurrent_inner = shapes.widths.recurrent_inner;
  FIGURE(trace, state_share, recurrent_inner / (value_heads * value_dim),
         (Note{"Share of the recurrent state on one device", ""}), recurrent_inner, value_heads, value_dim);
  shapes.state_share = state_share;
}

RankShapes ShapesOf(const Model& model, const ServingLoad& load, const ServingDegrees& mapping, Trace& trace) {
  RankShapes shapes;
  shapes.hidden = static_cast<double>(model.hidden);
  shapes.head_dim = static_cast<double>(model.HeadDim());
  shapes.window_head_dim = static_cast<double>(model.WindowHeadDim());
  shapes.widths = WidthsOf(model, mapping.tp, mapping.expert_ranks, trace);
  shapes.attention = MixerProducts(model, Mixer::kFullAttention, shapes.widths);
  shapes.window_attention = MixerProducts(model, Mixer::kWindow, shapes.widths);
  if (model.linear_attention) {
    shapes.recurrence = MixerProducts(model, Mixer::kRecurrence, shapes.widths);
    SetState(*model.linear_attention, shapes, trace);
  }
  shapes.mlp = FeedForwardProducts(model, FeedForward::kDense, shapes.widths);
  if (model.SharesKv()) {
    Trace off = Trace::Off();
    shapes.shared_kv_attention = MixerProducts(model, Mixer::kSharedKv, shapes.widths);
    shapes.shared_kv_window_attention = MixerProducts(model, Mixer::kSharedKvWindow, shapes.widths);
    shapes.shared_kv_mlp = FeedForwardProducts(model, FeedForward::kDense, SharedKvWidths(shapes.widths, off));
  }
  if (model.moe) {
    shapes.expert_mlp = FeedForwardProducts(model, FeedForward::kExperts, shapes.widths);
    const auto experts = static_cast<double>(model.moe->experts),
               redundant_experts = static_cast<double>(load.redundant_experts);
    FIGURE(trace, held_experts, experts + redundant_experts,
           (Note{"Experts of a layer", "with their redundant copies"}), experts, redundant_experts);
    shapes.experts = held_experts;
  }
  SetDecodeHeads(model, mapping, shapes, trace);
  SetPaddedHeads(model, mapping, load.engine.kernels.pads_heads, shapes, trace);
  return shapes;
}

template <class T>
void SetTo(T& member, const std::optional<T>& value, std::string_view symbol, std::string_view field,
           std::optional<std::size_t> row, Trace& trace) {
  if (!value) return;
  member = *value;
  if (trace.on()) trace.Input(symbol, member, EnginePath(row, field));
}

// Returns the engine's row that says whether decode steps replay a CUDA graph; none: the engine itself does.
std::optional<std::size_t> SetByArchitecture(Deployment& deployment, Trace& trace) {
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  launch.graphs = engine.kernels.graphs;
  launch.launch_gap = engine.overhead.launch_gap;
  deployment.quantizes_apart = engine.kernels.quantizes_apart;
  std::optional<std::size_t> graphs_row;
  const auto set = [&](std::optional<Seconds> step, std::optional<Seconds> per_sequence,
                       std::optional<Ratio> gemm_efficiency, std::optional<Ratio> bandwidth_efficiency,
                       std::optional<std::size_t> row) {
    SetTo(launch.step, step, "engine_step", "step", row, trace);
    SetTo(launch.per_sequence, per_sequence, "engine_sequence", "sequence", row, trace);
    SetTo(deployment.expert_gemm_efficiency, gemm_efficiency, "expert_matrix", "expert_matrix", row, trace);
    SetTo(deployment.expert_bandwidth_efficiency, bandwidth_efficiency, "expert_stream", "expert_stream", row, trace);
  };
  set(engine.overhead.step, engine.overhead.per_sequence, engine.kernels.expert_gemm_efficiency,
      engine.kernels.expert_bandwidth_efficiency, std::nullopt);
  for (std::size_t i = 0; i < engine.on.size(); ++i) {
    const EngineOn& on = engine.on[i];
    if (on.architecture != deployment.device.architecture) continue;
    if (on.graphs) launch.graphs = *on.graphs, graphs_row = i;
    if (on.launch_gap) launch.launch_gap = *on.launch_gap, launch.gap_row = i;
    deployment.quantizes_apart = on.quantizes_apart.value_or(deployment.quantizes_apart);
    deployment.visits_held_experts = on.visits_held_experts.value_or(deployment.visits_held_experts);
    set(on.step, on.per_sequence, on.expert_gemm_efficiency, on.expert_bandwidth_efficiency, i);
    if (!HasWeightOnlyExperts(deployment.formats)) continue;
    SetTo(deployment.expert_gemm_efficiency, on.weight_only_gemm_efficiency, "expert_matrix", "weight_only_matrix", i,
          trace);
    SetTo(deployment.expert_bandwidth_efficiency, on.weight_only_bandwidth_efficiency, "expert_stream",
          "weight_only_stream", i, trace);
  }
  return graphs_row;
}

// What a graph makes zero has its origin in the choice of graphs.
void ExplainLaunches(const Deployment& deployment, std::optional<std::size_t> graphs_row, Trace& trace) {
  if (!trace.on()) return;
  const LaunchOverheads& launch = deployment.launch;
  const std::string graphs = deployment.load.cuda_graphs ? "serving.cuda_graphs" : EnginePath(graphs_row, "graphs");
  const std::string gap = EnginePath(launch.gap_row, "launch_gap");
  trace.Input("decode_gap", launch.decode_gap, launch.graphs && !deployment.load.host_experts ? graphs : gap);
  trace.Input("prefill_gap", launch.prefill_gap, launch.graphs ? "serving.engine.prefill_gap" : gap);
  trace.Input("operation_launch", launch.per_operation, launch.graphs ? "serving.engine.prefill_launch" : graphs);
  trace.Input("steps_ahead", launch.steps_ahead, launch.graphs ? "serving.engine.steps_ahead" : graphs);
}

void SetTuning(Deployment& deployment, Trace& trace) {
  const Tuning& tuning = deployment.load.tuning;
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  deployment.step_factor =
      StepFactorAsRun(tuning, engine, deployment.model.moe.has_value(), deployment.device.architecture, trace);
  if (launch.graphs) launch.per_operation = LaunchAsRun(tuning, engine, launch.per_operation, trace);
}

void SetLaunches(Deployment& deployment, Trace& trace) {
  const Engine& engine = deployment.engine;
  LaunchOverheads& launch = deployment.launch;
  const std::optional<std::size_t> graphs_row = SetByArchitecture(deployment, trace);
  launch.graphs = deployment.load.cuda_graphs.value_or(launch.graphs);
  // No graph spans what the processor computes in between.
  launch.decode_gap = launch.graphs && !deployment.load.host_experts ? 0 * kUs : launch.launch_gap;
  // Graphs do not capture a prefill: it has gaps of its own, at most those of a step without graphs.
  launch.prefill_gap = launch.graphs ? engine.overhead.prefill_launch_gap : launch.launch_gap;
  // Engines without graphs are compiled runtimes: they launch kernels, not operations of a script, one step at a time.
  launch.per_operation = launch.graphs ? engine.overhead.prefill_launch : 0 * kUs;
  launch.steps_ahead = launch.graphs ? engine.scheduler.steps_ahead : Ratio(0);
  ExplainLaunches(deployment, graphs_row, trace);
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

// From a device to the one `stride` devices further, over the innermost level that joins `ranks` of them.
Route RouteOver(const Cluster& cluster, double ranks, double stride) {
  if (cluster.networks.empty()) return {.link = 1 * kGBps};
  Route route;
  double below = 1;  // devices of a part of the level
  while (route.level + 1 < cluster.networks.size() &&
         below * static_cast<double>(cluster.networks[route.level].size) < ranks) {
    below *= static_cast<double>(cluster.networks[route.level++].size);
  }
  const NetworkLevel& level = cluster.networks[route.level];
  const double farthest = max(1.0, static_cast<double>(level.size) / 2);
  const NeighborWire wire = NeighborOf(cluster, route.level, max(1.0, min(stride / below, farthest)));
  route.wire_share = wire.share;
  route.wires = wire.hops;
  route.wire_latency = level.hop_latency.value_or(level.latency);
  route.link = wire.share * level.bandwidth;
  return route;
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
  const double pool =
      deployment.load.disaggregated ? static_cast<double>(deployment.load.disaggregated->prefill_devices) : devices;
  network.hand_over = RouteOver(cluster, devices, pool);
}

}  // namespace

std::string EnginePath(std::optional<std::size_t> row, std::string_view field) {
  return "serving.engine." + (row ? "on." + std::to_string(*row) + "." : "") + std::string(field);
}

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace) {
  const std::optional<Utilizations>& utilization = load.engine.utilization;
  std::shared_ptr<const Cluster> scaled;
  if (utilization) {
    scaled = std::make_shared<Cluster>(AtUtilizations(cluster, *utilization));
    ReplaceByUtilizations(cluster, *utilization, "serving.engine.utilization", trace);
  }
  const Cluster& used = scaled ? *scaled : cluster;
  Deployment deployment{model, used, load, load.engine, used.device};
  deployment.requested = &cluster;
  deployment.scaled = std::move(scaled);
  CompleteEfficiency(deployment.device);
  trace.Input("bandwidth", deployment.device.memory.bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", static_cast<double>(deployment.device.units), "cluster.device.units");
  trace.Input("clock", deployment.device.clock, "cluster.device.clock");
  deployment.mapping = DegreesOf(load, trace);
  deployment.layers = LayersOf(model, deployment.mapping.pp, trace);
  deployment.shapes = ShapesOf(model, load, deployment.mapping, trace);
  deployment.formats = FormatsOf(model, load.precision, load.engine, deployment.device);
  SetLaunches(deployment, trace);
  SetTuning(deployment, trace);
  PlaceGroups(deployment);
  return deployment;
}

void BindSize(std::string_view symbol, Bytes size, bool kept, std::string_view path, Trace& trace) {
  if (!trace.on()) return;
  if (!kept) return trace.Input(symbol, size, path);
  trace.Constants("formats", "16 bit, whatever the format of the weights", symbol, size);
}

void BindWeightSize(std::string_view symbol, Precision weights, bool kept, const Deployment& deployment, Trace& trace) {
  const bool as_engine = kept && deployment.formats.keeps_as_engine;
  if (kept && deployment.formats.keeps_as_model && BytesPerElement(weights) < 2)
    return BindSize(symbol, ElementSize(weights), false, "model.compressed.weights", trace);
  BindSize(symbol, ElementSize(weights), kept && !as_engine,
           as_engine ? "serving.engine.kept_weights" : "serving.precision.weights", trace);
}

void BindDegrees(const ServingMapping& mapping, const std::string& path, Trace& trace) {
  if (!trace.on()) return;
  trace.Input("tp", static_cast<double>(mapping.tp), path + ".tp");
  trace.Input("pp", static_cast<double>(mapping.pp), path + ".pp");
  trace.Input("ep", static_cast<double>(mapping.ep), path + ".ep");
  trace.Input("cp", static_cast<double>(mapping.cp), path + ".cp");
  trace.Input("attention_dp", static_cast<double>(mapping.attention_dp), path + ".attention_dp");
  trace.Input("prefill_cp", static_cast<double>(mapping.prefill_cp), path + ".prefill_cp");
  trace.Input("replicas", static_cast<double>(mapping.replicas.value_or(1)), path + ".replicas");
}

}  // namespace slipstick
