// A deployment whose numbers have the nodes of what a trace knows them by.
#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/serving/named_terms.h"

namespace slipstick {
namespace {

using internal::WithTrace;

// The pool's device and degrees are those that it states.
Deployment DeployPool(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder) {
  return WithTrace(decoder, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, kPrefillPool);
    const Disaggregated& pools = *load.disaggregated;
    if (pools.prefill_device) BindDevice("serving.disaggregated.prefill_device", trace);
    if (pools.prefill_mapping) BindDegrees(load.mapping, "serving.disaggregated.prefill_mapping", trace);
    return Deploy(plain.model, cluster, load, trace);
  });
}

void CarryDegrees(ServingDegrees& degrees, Trace& trace) {
  const auto carry = [&trace](Ratio& degree, std::string_view symbol) { degree = trace.Carry(symbol, degree); };
  carry(degrees.devices_per_group, "group_devices");
  carry(degrees.tp, "tp");
  carry(degrees.pp, "pp");
  carry(degrees.ep, "ep");
  carry(degrees.attention_dp, "attention_dp");
  carry(degrees.replicas, "replicas");
  carry(degrees.prefill_cp, "prefill_cp");
  carry(degrees.context_ranks, "context_ranks");
}

void CarryLayers(ServedLayers& layers, Trace& trace) {
  const auto carry = [&trace](Ratio& count, std::string_view symbol) { count = trace.Carry(symbol, count); };
  carry(layers.total, "layers");
  carry(layers.full, "full_layers");
  carry(layers.per_stage, "stage_layers");
  carry(layers.attention, "attention_layers");
  carry(layers.window, "window_layers");
  carry(layers.recurrent, "recurrent_layers");
  carry(layers.moe, "moe_layers");
  carry(layers.dense, "dense_layers");
  carry(layers.shared_kv, "shared_kv_layers");
  carry(layers.shared_kv_window, "shared_kv_window_layers");
  carry(layers.on_stage.attention, "stage_attention");
  carry(layers.on_stage.window, "stage_window");
  carry(layers.on_stage.recurrent, "stage_recurrent");
  carry(layers.on_stage.moe, "stage_moe");
  carry(layers.on_stage.dense, "stage_dense");
}

void CarryShapes(RankShapes& shapes, Trace& trace) {
  const auto carry = [&trace](Ratio& width, std::string_view symbol) { width = trace.Carry(symbol, width); };
  BindInputs(shapes.hidden, "model.hidden", trace);
  BindInputs(shapes.head_dim, "model.head_dim", trace);
  carry(shapes.window_head_dim, "window_head_dim");
  carry(shapes.decode_kv_heads, "decode_kv_heads");
  carry(shapes.decode_window_kv_heads, "decode_window_kv_heads");
  carry(shapes.state_elements, "state_elements");
  carry(shapes.state_share, "state_share");
  carry(shapes.experts, "held_experts");
  carry(shapes.widths.mlp, "rank_mlp");
  carry(shapes.widths.shared, "rank_shared");
  carry(shapes.widths.expert, "rank_expert");
  carry(shapes.widths.shared_kv_mlp, "rank_shared_kv_mlp");
  carry(shapes.widths.vocab, "rank_vocab");
}

}  // namespace

NamedDeployment::NamedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace)
    : plain_([&] {
        BindDegrees(load.mapping, "serving.mapping", trace);
        return Deploy(model, cluster, load, trace);
      }()) {
  if (!trace.on()) return;
  const Bytes half = 2 * kB;
  CONSTANTS(trace, "formats", "an element of 16 bits", half);
  Bind(trace, "");
}

NamedDeployment::NamedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder)
    : plain_(DeployPool(cluster, load, decoder)) {
  if (decoder.explained != nullptr) Bind(decoder.explained->trace, std::string(kPrefillPool));
}

void NamedDeployment::Bind(Trace& trace, const std::string& scope) {
  const Trace::Scope own(trace, scope);
  BindInputs(model_.emplace(plain_.model), "model", trace);
  BindInputs(load_.emplace(plain_.load), "serving", trace);
  // What only the engine's steps use stays with the plain one.
  named_.emplace(Deployment{*model_, plain_.cluster, *load_, load_->engine, plain_.device, plain_.mapping,
                            plain_.layers, plain_.shapes, plain_.formats, plain_.launch, plain_.network});
  named_->log = plain_.log;
  named_->requested = plain_.requested;
  named_->scaled = plain_.scaled;
  BindInputs(named_->device.host.memory, "cluster.device.host.memory", trace);
  BindInputs(named_->device.tdp, "cluster.device.tdp", trace);
  BindInputs(named_->device.idle, "cluster.device.idle", trace);
  CarryDegrees(named_->mapping, trace);
  CarryLayers(named_->layers, trace);
  CarryShapes(named_->shapes, trace);
  named_->launch.steps_ahead = trace.Carry("steps_ahead", named_->launch.steps_ahead);
  named_->explained = &explained_.emplace(ExplainedDeployment{trace, plain_, scope});
}

void NamedDeployment::Explain(const SettledHits& hits) {
  if (!named_) return;
  load_->prefix_hit = Exactly(plain_.load.prefix_hit, hits.hit_rate);
  explained_->trace.Alias("prefix_hit", load_->prefix_hit, "the node of prefix_hit");
  explained_->trace.Replace("serving.prefix_hit", load_->prefix_hit, "prefix_hit");
  if (!load_->prefix_cache) return;
  load_->prefix_cache->host_share = Exactly(plain_.load.prefix_cache->host_share, hits.host_share);
  load_->prefix_cache->ssd_share = Exactly(plain_.load.prefix_cache->ssd_share, hits.ssd_share);
}

void NameAgain(const Deployment& deployment) {
  if (deployment.explained == nullptr) return;
  WithTrace(deployment, [](Trace& trace, const Deployment& plain) {
    BindDevice("cluster.device", trace);
    BindDegrees(plain.load.mapping, "serving.mapping", trace);
    return Deploy(plain.model, *plain.requested, plain.load, trace).mapping;
  });
}

}  // namespace slipstick
