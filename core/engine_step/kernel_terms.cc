#include "core/engine_step/kernel_terms.h"

#include <deque>
#include <string>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/engine_step/adapters.h"
#include "core/engine_step/compiled_graph.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/host_experts.h"
#include "core/engine_step/host_link.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/imbalance.h"
#include "core/engine_step/layer_pipelined.h"
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
  shapes.window_head_dim = model.window.head_dim > 0 ? Ratio(model.window.head_dim) : shapes.head_dim;
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

// The operators of a pass, with the names under which its FLOPs and bytes are summed up.
void AddNamed(const OperatorBreakdown& operators, OperatorBreakdown& to, Trace& trace) {
  for (const OperatorTime& one : operators) {
    trace.Alias("flops", one.kernel.flops, "FLOPs of this operator");
    trace.Alias("bytes", one.kernel.bytes, "bytes of this operator");
    trace.Alias("operator_runs", one.count, "runs of this operator");
    to.Add(one.name, one.kernel, one.count, "operator_runs", trace);
  }
}

PassCost Named(PassCost pass, Trace& trace) {
  if (!trace.on()) return pass;
  const OperatorBreakdown operators = pass.operators;
  pass.operators = {};
  AddNamed(operators, pass.operators, trace);
  return pass;
}
PassCost NamedPrefill(const PassCost& pass, Trace& trace) {
  trace.Alias("pass_time", pass.time, "time of this pass");
  trace.Alias("occupancy", pass.occupancy, "occupancy of this pass");
  trace.Alias("fixed_time", pass.fixed, "fixed time of this pass");
  return Named(pass, trace);
}
PassCost NamedDecode(const PassCost& pass, Trace& trace) {
  trace.Alias("step_time", pass.time, "time of this step");
  return Named(pass, trace);
}

// Widths of the whole model with heads padded to the ranks.
LayerWidths PaddedWidths(const Deployment& deployment, Trace& trace) {
  LayerWidths whole = WholeWidths(deployment.model, trace);
  whole.heads = deployment.shapes.padded_heads;
  whole.kv_heads = deployment.shapes.padded_kv_heads;
  trace.Alias("rank_heads", whole.heads, "padded_heads");
  trace.Alias("rank_kv_heads", whole.kv_heads, "padded_kv_heads");
  return whole;
}

GraphElements GraphElementsOf(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "matrices");
  const Model& model = deployment.model;
  GraphElements elements;
  const LayerWidths whole = PaddedWidths(deployment, trace);
  const auto of = [&](const MatrixProducts& products, std::string_view symbol) {
    MatrixElements of_layer = ElementsOf(products, model, whole, symbol, trace);
    of_layer.all_tokens = trace.Carry(symbol, of_layer.all_tokens);
    of_layer.expert = trace.Carry("expert", of_layer.expert);
    return of_layer;
  };
  if (model.SharesKv()) {
    elements.all_layers = trace.Carry("all_matrices", CountParameters(model, trace).matrices);
  } else {
    elements.attention = of(MixerProducts(model, Mixer::kFullAttention, whole), "attention_matrices").all_tokens;
    elements.mlp = of(FeedForwardProducts(model, FeedForward::kDense, whole), "mlp_matrices").all_tokens;
    if (model.linear_attention)
      elements.recurrence = of(MixerProducts(model, Mixer::kRecurrence, whole), "recurrent_matrices").all_tokens;
  }
  if (model.moe) elements.experts = of(FeedForwardProducts(model, FeedForward::kExperts, whole), "every_token");
  return elements;
}

RoutedExpert RoutedExpertOf(const Deployment& deployment, Trace& trace) {
  const Model& model = deployment.model;
  const LayerWidths& widths = deployment.shapes.widths;
  const MatrixElements elements = ElementsOf(deployment.shapes.expert_mlp, model, widths, "matrices", trace);
  return {trace.Carry("expert", elements.expert),
          trace.Carry("expert_biases", Ratio(ExpertBiases(model, widths, trace))),
          trace.Carry("routed_width", Ratio(RoutedWidth(model, trace)))};
}

// Outputs and inputs as the model's widths make them.
MatrixProduct Named(const MatrixProduct& product, const Deployment& deployment, Trace& trace) {
  const LayerWidths& widths = deployment.shapes.widths;
  MatrixProduct named = ProductOf(product.id, deployment.model, widths, trace);
  named.outputs = trace.Carry("outputs", named.outputs);
  named.inputs = trace.Carry("inputs", named.inputs);
  if (product.outputs == named.outputs) return named;
  if (product.id == ProductId::kLayerInputs) {
    named.outputs = Figure("Outputs of the projection", named.outputs * trace.Carry("layers", deployment.layers.total),
                           "for all layers");
    return named;
  }
  const Trace::Scope scope(trace, "latent");
  const MatrixProduct latent = ProductOf(ProductId::kKeyValueDown, deployment.model, widths, trace);
  named.outputs = Figure("Outputs of both down-projections", named.outputs + trace.Carry("outputs", latent.outputs));
  return named;
}

MatrixProducts Named(const MatrixProducts& products, const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return products;
  MatrixProducts named;
  for (const MatrixProduct& product : products) {
    const Trace::Scope scope(trace, TraitsOf(product.id).name);
    named.Add(Named(product, deployment, trace));
  }
  return named;
}

// A kernel's figures under the names of callers.
KernelTime Under(const KernelTime& kernel, Trace& trace) {
  trace.Alias("flops", kernel.flops, "FLOPs of this kernel");
  trace.Alias("bytes", kernel.bytes, "bytes of this kernel");
  trace.Alias("time", kernel.time, "time of this kernel");
  return kernel;
}

ParameterCount NamedCount(const Model& model, Trace& trace) {
  ParameterCount count = CountParameters(model, trace);
  count.matrices = trace.Carry("all_matrices", count.matrices);
  count.active_matrices = trace.Carry("active_matrices", count.active_matrices);
  return count;
}

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

PrefillPass Named(const PrefillPass& pass, Trace& trace) {
  return {trace.Carry("sequences", pass.sequences), trace.Carry("tokens", pass.tokens),
          trace.Carry("cached", pass.cached)};
}

DecodePass Named(const DecodePass& pass, Trace& trace) {
  DecodePass named = pass;
  named.sequences = trace.Carry("sequences", pass.sequences);
  named.context = trace.Carry("context", pass.context);
  named.checked = trace.Carry("checked", pass.checked);
  named.grown = trace.Carry("grown", pass.grown);
  return named;
}

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const GraphElements elements = GraphElementsOf(deployment, trace);
  return NamedPrefill(CompiledGraphPrefill(Named(pass, trace), Named(deployment, trace), elements), trace);
}

PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const GraphElements elements = GraphElementsOf(deployment, trace);
  return NamedDecode(CompiledGraphDecode(Named(pass, trace), Named(deployment, trace), elements), trace);
}

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const ParameterCount count = NamedCount(deployment.model, trace);
  return NamedPrefill(LayerPipelinedPrefill(Named(pass, trace), Named(deployment, trace), count), trace);
}

PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const ParameterCount count = NamedCount(deployment.model, trace);
  return NamedDecode(LayerPipelinedDecode(Named(pass, trace), Named(deployment, trace), count), trace);
}

Bytes EncoderWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "image_encoder");
  return EncoderWeights(Named(deployment, trace).model);
}

Seconds WithImages(const Deployment& deployment, double prompts, std::string_view prompts_are, double tokens,
                   Seconds head, OperatorBreakdown& operators, Trace& trace) {
  const Deployment& named = Named(deployment, trace);
  const KernelTime encoding = [&] {
    const Trace::Scope scope(trace, "image_encoder");
    const Ratio image_tokens = ImageTokens(named.model, *named.load.images);
    trace.Report("serving.images.tokens", image_tokens);
    const KernelTime made = EncodeImages(named, image_tokens);
    trace.Report("serving.images.encode_s", made.time);
    return made;
  }();
  const Ratio encoded =
      EncodedPrompts(named.load, trace.Carry(prompts_are, Ratio(prompts)), trace.Carry("tokens", Ratio(tokens)));
  OperatorBreakdown own;
  own.Add("vision encoder", encoding, encoded);
  AddNamed(own, operators, trace);
  const Seconds all = Figure("LM head and vision encoder", trace.Carry("head", head) + encoded * encoding.time);
  trace.Alias("head", all, "head with the images");
  return all;
}

BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine, Trace& trace) {
  if (!trace.on()) return RateOfCopies(host_link, engine.communication);
  EngineCommunication named = engine.communication;
  BindInputs(named.host_copy_efficiency, "serving.engine.host_copies", trace);
  return RateOfCopies(trace.Carry("host_link", host_link), named);
}

double HostLayers(const Deployment& deployment, Trace& trace) {
  const Ratio layers = HostLayers(Named(deployment, trace));
  trace.Alias("host_layers", layers, "layers of these experts");
  return layers;
}

Bytes HostWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "host_experts");
  const Bytes weights = HostWeights(Named(deployment, trace), RoutedExpertOf(deployment, trace));
  trace.Report("serving.host_bytes", weights);
  return weights;
}

Seconds TimeHostExperts(const Deployment& deployment, double rows, const KernelTime& on_device, std::string_view name,
                        const Adder& add, Trace& trace) {
  const RoutedExpert expert = RoutedExpertOf(deployment, trace);
  if (!trace.on()) return TimeHostExperts(deployment, expert, rows, on_device, name, add.operators);
  KernelTime named = on_device;
  named.time = trace.Carry("time", on_device.time);
  named.flops = trace.Carry("flops", on_device.flops);
  named.bytes = trace.Carry("bytes", on_device.bytes);
  OperatorBreakdown operators;
  const Seconds mean =
      TimeHostExperts(Named(deployment, trace), expert, trace.Carry("rows", Ratio(rows)), named, name, operators);
  AddNamed(operators, add.operators, trace);
  trace.Alias("mean_experts", mean, "time of these experts");
  return mean;
}

Bytes AdapterWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "adapters");
  return AdapterWeights(Named(deployment, trace), {Named(deployment.shapes.attention, deployment, trace),
                                                   Named(deployment.shapes.mlp, deployment, trace)});
}

KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, Trace& trace) {
  const Trace::Scope scope(trace, "adapters");
  return Under(
      TimeOfAdapters(Named(deployment, trace), Named(products, deployment, trace), trace.Carry("rows", Ratio(rows))),
      trace);
}

double ImbalanceOf(const Deployment& deployment, Trace& trace) {
  const Ratio imbalance = ImbalanceOf(Named(deployment, trace));
  trace.Alias("imbalance", imbalance, "imbalance of these experts");
  return imbalance;
}

}  // namespace slipstick
