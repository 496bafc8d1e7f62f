#include "core/engine_step/named_terms.h"

#include <utility>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/collectives/library_network.h"
#include "core/engine_step/mixed_step.h"
#include "core/engine_step/step_time.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

template <class T>
T BoundTo(T value, const std::string& path, Trace& trace) {
  BindInputs(value, path, trace);
  return value;
}

std::vector<FabricConstants> FabricsOf(const Cluster& cluster, Trace& trace) {
  std::vector<FabricConstants> fabrics;
  for (const NetworkLevel& level : cluster.networks) {
    FabricConstants& fabric = fabrics.emplace_back(*level.fabric);
    BindInputs(fabric, "fabrics." + fabric.id, [&trace](const BoundNumber& number) {
      // Of the constants from inside a training step serving reads only these.
      const bool is_routed = number.path.find("routed") != std::string::npos;
      return trace.tape().Constant(number.path, number.value, number.dimension, number.help,
                                   is_routed ? kInStepSource : kLibrarySource);
    });
  }
  return fabrics;
}

Cluster ClusterOn(Cluster cluster, const std::vector<FabricConstants>& fabrics, Trace& trace) {
  BindInputs(cluster.networks, "cluster.networks", trace);
  BindInputs(cluster.devices, "cluster.devices", trace);
  for (std::size_t i = 0; i < fabrics.size(); ++i) cluster.networks[i].fabric = Fabric(fabrics[i]);
  return cluster;
}

// The degrees are known by their names: two pools may have the same.
ServingLoad LoadOf(ServingLoad load, Trace& trace) {
  BindInputs(load, "serving", trace);
  const auto name = [&trace](Tally& degree, std::string_view symbol) {
    degree = degree.With(trace.Carry(symbol, Ratio(Count(degree))).node());
  };
  ServingMapping& mapping = load.mapping;
  if (!mapping.replicas) mapping.replicas = 1;
  name(mapping.tp, "tp");
  name(mapping.pp, "pp");
  name(mapping.ep, "ep");
  name(mapping.cp, "cp");
  name(mapping.attention_dp, "attention_dp");
  name(mapping.prefill_cp, "prefill_cp");
  name(*mapping.replicas, "replicas");
  return load;
}

// The names by which callers and kernels know the numbers of a deployment.
void NameNumbers(const Deployment& deployment, Trace& trace) {
  const auto name = [&trace](std::string_view symbol, auto value) { NameNode(symbol, value, trace); };
  name("group_devices", deployment.mapping.devices_per_group);
  name("context_ranks", deployment.mapping.context_ranks);
  name("stage_layers", deployment.layers.per_stage);
  name("full_layers", deployment.layers.full);
  const LayerCounts& stage = deployment.layers.on_stage;
  name("stage_attention", stage.attention);
  name("stage_window", stage.window);
  name("stage_recurrent", stage.recurrent);
  name("stage_moe", stage.moe);
  name("stage_dense", stage.dense);
  const RankShapes& shapes = deployment.shapes;
  name("decode_heads", shapes.decode_heads);
  name("decode_kv_heads", shapes.decode_kv_heads);
  name("decode_window_kv_heads", shapes.decode_window_kv_heads);
  name("padded_heads", shapes.padded_heads);
  name("padded_kv_heads", shapes.padded_kv_heads);
  name("state_elements", shapes.state_elements);
  name("state_share", shapes.state_share);
  name("held_experts", shapes.experts);
  const LaunchOverheads& launch = deployment.launch;
  name("engine_step", launch.step);
  name("engine_sequence", launch.per_sequence);
  name("decode_gap", launch.decode_gap);
  name("prefill_gap", launch.prefill_gap);
  name("operation_launch", launch.per_operation);
  name("steps_ahead", launch.steps_ahead);
  name("step_factor", deployment.step_factor);
  name("expert_matrix", deployment.expert_gemm_efficiency);
  name("expert_stream", deployment.expert_bandwidth_efficiency);
}

// With what callers have set since.
Deployment NamedAs(const Deployment& deployment, Trace& trace) {
  Deployment named = deployment.named->deployment;
  named.trace = &trace;
  named.log = deployment.log;
  named.kv_cache_budget = deployment.kv_cache_budget;
  named.device_slots = deployment.device_slots;
  named.sessions = deployment.sessions;
  return named;
}

PrefillPass Carried(const PrefillPass& pass, Trace& trace) {
  return {trace.Carry("sequences", pass.sequences), trace.Carry("tokens", pass.tokens),
          trace.Carry("cached", pass.cached)};
}
DecodePass Carried(const DecodePass& pass, Trace& trace) {
  return {trace.Carry("sequences", pass.sequences), trace.Carry("context", pass.context),
          trace.Carry("checked", pass.checked), trace.Carry("grown", pass.grown), pass.splits_evenly};
}

}  // namespace

BoundDeployment::BoundDeployment(const Deployment& plain, const ServingLoad& asked, Trace& trace)
    : model(BoundTo(plain.model, "model", trace)),
      fabrics(FabricsOf(plain.cluster, trace)),
      cluster(ClusterOn(plain.cluster, fabrics, trace)),
      load(LoadOf(asked, trace)),
      deployment(DeployOn(cluster, model, load, trace)) {
  deployment.requested = plain.requested;
}

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace) {
  Deployment deployment = Deploy(model, cluster, load);
  if (!trace.on()) return deployment;
  if (load.engine.utilization)
    ReplaceByUtilizations(cluster, *load.engine.utilization, "serving.engine.utilization", trace);
  trace.Input("bandwidth", deployment.device.memory.bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", static_cast<double>(deployment.device.units), "cluster.device.units");
  trace.Input("clock", deployment.device.clock, "cluster.device.clock");
  deployment.named = std::make_shared<BoundDeployment>(deployment, load, trace);
  NameNumbers(deployment.named->deployment, trace);
  return deployment;
}

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return TimeOf(pass, deployment);
  const Trace::Scope scope(trace, "prefill");
  const PassCost cost = TimeOf(Carried(pass, trace), NamedAs(deployment, trace));
  NameNode("pass_time", cost.time, trace);
  NameNode("occupancy", cost.occupancy, trace);
  NameNode("fixed_time", cost.fixed, trace);
  return cost;
}

PassCost TimeOf(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return TimeOf(pass, deployment);
  const Trace::Scope scope(trace, "decode");
  const PassCost cost = TimeOf(Carried(pass, trace), NamedAs(deployment, trace));
  NameNode("step_time", cost.time, trace);
  return cost;
}

Seconds TimeOf(const MixedPass& pass, const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return TimeOf(pass, deployment);
  const Trace::Scope scope(trace, "mixed");
  const MixedPass carried{Carried(pass.decode, trace), trace.Carry("prompts", pass.prompts),
                          trace.Carry("tokens", pass.tokens), trace.Carry("cached", pass.cached)};
  const Seconds step = TimeOf(carried, NamedAs(deployment, trace));
  NameNode("mixed_step", step, trace);
  return step;
}

PromptTokens ComputedTokens(const ServingLoad& load, Trace& trace) {
  if (!trace.on()) return ComputedTokens(load);
  ServingLoad named = load;
  named.prompt = load.prompt.With(trace.Carry("prompt", Ratio(load.prompt)).node());
  named.prefix_hit = trace.Carry("prefix_hit", load.prefix_hit);
  const PromptTokens made = ComputedTokens(named);
  NameNode("tokens", made.tokens, trace);
  NameNode("cached", made.cached, trace);
  return made;
}

namespace {

const Route& NamedRoute(const Route& route, const Deployment& deployment) {
  if (deployment.named == nullptr) return route;
  const ServingNetwork& named = deployment.named->deployment.network;
  return &route == &deployment.network.stage ? named.stage : named.hand_over;
}

}  // namespace

void BindRoute(const Route& route, const Deployment& deployment, Trace& trace) {
  NameNode("stage_link", NamedRoute(route, deployment).link, trace);
}

Seconds OverFurtherWires(Seconds time, std::string_view symbol, const Route& route, const Deployment& deployment,
                         Trace& trace) {
  const Seconds all = OverFurtherWires(trace.Carry(symbol, time), NamedRoute(route, deployment));
  NameNode(symbol, all, trace);
  return all;
}

LayerCounts CountedLayers(const Model& model, Trace& trace) {
  LayerCounts layers = CountLayers(model, trace);
  layers.attention = trace.Carry("attention_layers", layers.attention);
  layers.window = trace.Carry("window_layers", layers.window);
  layers.recurrent = trace.Carry("recurrent_layers", layers.recurrent);
  layers.moe = trace.Carry("moe_layers", layers.moe);
  layers.dense = trace.Carry("dense_layers", layers.dense);
  layers.shared_kv = trace.Carry("shared_kv_layers", layers.shared_kv);
  layers.shared_kv_window = trace.Carry("shared_kv_window_layers", layers.shared_kv_window);
  return layers;
}

LayerWidths RankWidths(const Model& model, const ServingDegrees& mapping, Trace& trace) {
  NameNode("tp", mapping.tp, trace);
  NameNode("expert_tp", mapping.expert_ranks, trace);
  LayerWidths widths = WidthsOf(model, mapping.tp, mapping.expert_ranks, trace);
  widths.heads = trace.Carry("rank_heads", widths.heads);
  widths.kv_heads = trace.Carry("rank_kv_heads", widths.kv_heads);
  widths.window_kv_heads = trace.Carry("rank_window_kv_heads", widths.window_kv_heads);
  widths.mlp = trace.Carry("rank_mlp", widths.mlp);
  widths.shared = trace.Carry("rank_shared", widths.shared);
  widths.expert = trace.Carry("rank_expert", widths.expert);
  widths.shared_kv_mlp = trace.Carry("rank_shared_kv_mlp", widths.shared_kv_mlp);
  widths.layer_inputs = trace.Carry("rank_layer_inputs", widths.layer_inputs);
  widths.recurrent_heads = trace.Carry("recurrent_heads", widths.recurrent_heads);
  widths.recurrent_key_heads = trace.Carry("recurrent_key_heads", widths.recurrent_key_heads);
  widths.recurrent_inner = trace.Carry("recurrent_inner", widths.recurrent_inner);
  widths.recurrent_columns = trace.Carry("recurrent_columns", widths.recurrent_columns);
  widths.vocab = trace.Carry("rank_vocab", widths.vocab);
  return widths;
}

ExpertTraffic GatherTokens(const Deployment& deployment, double rows, Trace& trace) {
  const ExpertTraffic traffic = GatherTokens(deployment, trace.Carry("rows", Ratio(rows)));
  NameNode("held_tokens", traffic.held_tokens, trace);
  return traffic;
}

ExpertTraffic SendTokens(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  const ExpertTraffic traffic = SendTokens(deployment, trace.Carry("rows", Ratio(rows)), phase);
  NameNode("held_tokens", traffic.held_tokens, trace);
  return traffic;
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

void BindLevelLink(std::string_view symbol, BytesPerSecond link, double devices, const Deployment& deployment,
                   Trace& trace) {
  if (!trace.on()) return;
  const std::vector<NetworkLevel>& levels = deployment.cluster.networks;
  std::size_t place = 0;
  double joined = 1;
  for (place = 0; place + 1 < levels.size(); ++place) {
    joined *= static_cast<double>(levels[place].size);
    if (joined >= devices) break;
  }
  trace.Input(symbol, link, "cluster.networks." + std::to_string(place) + ".bandwidth");
}

}  // namespace slipstick
