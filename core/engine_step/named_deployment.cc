// Deployments with nodes (kernel_terms.h).
#include <deque>
#include <string>

#include "core/base/bind_inputs.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/kernel_terms.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

ServingDegrees Named(ServingDegrees degrees, Trace& trace) {
  const auto carry = [&trace](Ratio& degree, std::string_view name) { degree = trace.Carry(name, degree); };
  carry(degrees.tp, "tp");
  carry(degrees.devices_per_group, "group_devices");
  carry(degrees.pp, "pp");
  carry(degrees.ep, "ep");
  carry(degrees.attention_dp, "attention_dp");
  carry(degrees.cp, "cp");
  carry(degrees.prefill_cp, "prefill_cp");
  carry(degrees.context_ranks, "context_ranks");
  carry(degrees.expert_ranks, "expert_tp");
  return degrees;
}

ServedLayers Named(ServedLayers layers, Trace& trace) {
  const auto carry = [&trace](Ratio& count, std::string_view name) { count = trace.Carry(name, count); };
  carry(layers.total, "layers");
  carry(layers.attention, "attention_layers");
  carry(layers.window, "window_layers");
  carry(layers.full, "full_layers");
  carry(layers.recurrent, "recurrent_layers");
  carry(layers.moe, "moe_layers");
  carry(layers.dense, "dense_layers");
  carry(layers.shared_kv, "shared_kv_layers");
  carry(layers.shared_kv_window, "shared_kv_window_layers");
  carry(layers.per_stage, "stage_layers");
  carry(layers.on_stage.attention, "stage_attention");
  carry(layers.on_stage.dense, "stage_dense");
  return layers;
}

LayerWidths Named(LayerWidths widths, Trace& trace) {
  const auto carry = [&trace](Ratio& width, std::string_view name) { width = trace.Carry(name, width); };
  carry(widths.heads, "rank_heads");
  carry(widths.kv_heads, "rank_kv_heads");
  carry(widths.window_kv_heads, "rank_window_kv_heads");
  carry(widths.mlp, "rank_mlp");
  carry(widths.shared_kv_mlp, "rank_shared_kv_mlp");
  carry(widths.shared, "rank_shared");
  carry(widths.expert, "rank_expert");
  carry(widths.layer_inputs, "rank_layer_inputs");
  carry(widths.recurrent_heads, "recurrent_heads");
  carry(widths.recurrent_key_heads, "recurrent_key_heads");
  carry(widths.recurrent_columns, "recurrent_columns");
  carry(widths.recurrent_inner, "recurrent_inner");
  carry(widths.vocab, "rank_vocab");
  return widths;
}

RankShapes Named(RankShapes shapes, const Model& model, Trace& trace) {
  const auto carry = [&trace](Ratio& shape, std::string_view name) { shape = trace.Carry(name, shape); };
  shapes.widths = Named(shapes.widths, trace);
  shapes.hidden = Ratio(model.hidden);
  BindInputs(shapes.head_dim, "model.head_dim", trace);
  if (model.HasWindows()) carry(shapes.window_head_dim, "window_head_dim");
  carry(shapes.decode_heads, "decode_heads");
  carry(shapes.decode_kv_heads, "decode_kv_heads");
  carry(shapes.decode_window_kv_heads, model.HasWindows() ? "decode_window_kv_heads" : "decode_kv_heads");
  carry(shapes.padded_heads, "padded_heads");
  carry(shapes.padded_kv_heads, "padded_kv_heads");
  carry(shapes.state_elements, "state_elements");
  carry(shapes.state_share, "state_share");
  carry(shapes.experts, "held_experts");
  return shapes;
}

// Sizes of elements as what chose their format.
ElementSizes SizesOf(const ServedFormats& formats, Trace& trace) {
  const auto chosen = [&trace](Bytes size, const std::string& path) {
    BindInputs(size, path, trace);
    return size;
  };
  const auto weights = [&](Bytes size, bool is_kept, bool as_model) {
    if (is_kept && as_model && size < 2 * kB) return chosen(size, "model.compressed.weights");
    if (is_kept && !formats.keeps_as_engine) return size;
    return chosen(size, is_kept ? "serving.engine.kept_weights" : "serving.precision.weights");
  };
  ElementSizes sizes = formats.sizes;
  sizes.mlp_weights = weights(sizes.mlp_weights, false, false);
  sizes.attention_weights = weights(sizes.attention_weights, formats.keeps_attention, formats.keeps_as_model);
  sizes.head_weights = weights(sizes.head_weights, formats.keeps_head, formats.keeps_as_model);
  sizes.activations = chosen(sizes.activations, "serving.precision.activations");
  if (formats.keeps_as_model) {
    sizes.attention_activations = chosen(sizes.attention_activations, "model.compressed.weights");
  } else if (!formats.keeps_attention) {
    sizes.attention_activations = chosen(sizes.attention_activations, "serving.precision.activations");
  }
  sizes.kv_cache = chosen(sizes.kv_cache, "serving.precision.kv_cache");
  sizes.state = chosen(sizes.state, "serving.precision.state");
  return sizes;
}

class NamedDeployment {
 public:
  NamedDeployment(const Deployment& stated, Trace& trace)
      : stated_(&stated), model_(stated.model), load_(stated.load), made_(Made(stated, trace)) {}
  NamedDeployment(const NamedDeployment&) = delete;  // what it made points into it
  NamedDeployment& operator=(const NamedDeployment&) = delete;
  [[nodiscard]] const Deployment& made() const { return made_; }
  // Whether it is of these numbers, and their names stand for the same here.
  [[nodiscard]] bool Is(const Deployment& other, Trace& trace) const {
    const LayerWidths &own = made_.shapes.widths, &others = other.shapes.widths;
    return stated_ == &other && own.heads == others.heads && own.mlp == others.mlp && own.expert == others.expert &&
           Stands("tp", made_.mapping.tp, other.mapping.tp, trace) &&
           Stands("pp", made_.mapping.pp, other.mapping.pp, trace) &&
           Stands("stage_layers", made_.layers.per_stage, other.layers.per_stage, trace);
  }

 private:
  static bool Stands(std::string_view name, Ratio own, Ratio other, Trace& trace) {
    return own == other && trace.Carry(name, other).node() == own.node();
  }
  Deployment Made(const Deployment& stated, Trace& trace) {
    BindInputs(model_, "model", trace);
    BindInputs(load_, "serving", trace);
    Deployment made{model_, stated.cluster, load_, load_.engine, Named(stated.device, trace)};
    BindInputs(made.device.host, "cluster.device.host", trace);
    made.mapping = Named(stated.mapping, trace);
    made.layers = Named(stated.layers, trace);
    made.shapes = Named(stated.shapes, model_, trace);
    made.formats = stated.formats;
    made.formats.sizes = SizesOf(stated.formats, trace);
    made.launch = stated.launch;
    made.launch.step = trace.Carry("engine_step", stated.launch.step);
    made.launch.per_sequence = trace.Carry("engine_sequence", stated.launch.per_sequence);
    made.launch.per_operation = trace.Carry("operation_launch", stated.launch.per_operation);
    made.network = stated.network;
    BindLevelLink("group_link", stated.network.link, stated.mapping.devices_per_group, stated, trace);
    made.network.link = trace.Carry("group_link", stated.network.link);
    made.step_factor = stated.step_factor;
    made.expert_gemm_efficiency = trace.Carry("expert_matrix", stated.expert_gemm_efficiency);
    made.expert_bandwidth_efficiency = trace.Carry("expert_stream", stated.expert_bandwidth_efficiency);
    made.quantizes_apart = stated.quantizes_apart;
    made.visits_held_experts = stated.visits_held_experts;
    made.log = stated.log;
    made.requested = stated.requested;
    made.scaled = stated.scaled;
    return made;
  }

  const Deployment* stated_;
  Model model_;
  ServingLoad load_;
  Deployment made_;
};

}  // namespace

const Deployment& Named(const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return deployment;
  using Deployments = std::deque<NamedDeployment>;
  Deployments& known =
      trace.Kept<Deployments>("deployment " + trace.DeviceHere(), [] { return std::make_shared<Deployments>(); });
  for (const NamedDeployment& one : known) {
    if (one.Is(deployment, trace)) return one.made();
  }
  return known.emplace_back(deployment, trace).made();
}

}  // namespace slipstick
