#include "core/engine_step/kernel_terms.h"

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/engine_step/adapters.h"
#include "core/engine_step/attention_time.h"
#include "core/engine_step/compiled_graph.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/host_experts.h"
#include "core/engine_step/host_link.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/imbalance.h"
#include "core/engine_step/layer_pipelined.h"
#include "core/engine_step/product_time.h"
#include "core/engine_step/served_product.h"

namespace slipstick {
namespace {

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

SelectingLayers SelectingLayersOf(const Model& model, Trace& trace) {
  SelectingLayers layers;
  if (model.indexer) layers.index = trace.Carry("index_share", Ratio(IndexShare(model, trace)));
  if (model.compressed) layers.heavy = trace.Carry("heavy_share", Ratio(HeavyShare(model, trace)));
  return layers;
}

ParameterCount NamedCount(const Model& model, Trace& trace) {
  ParameterCount count = CountParameters(model, trace);
  count.matrices = trace.Carry("all_matrices", count.matrices);
  count.active_matrices = trace.Carry("active_matrices", count.active_matrices);
  return count;
}

}  // namespace

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

KernelTime PrefillAttention(const Deployment& deployment, double sequences, double tokens, double cached, double window,
                            Trace& trace) {
  const SelectingLayers layers = SelectingLayersOf(deployment.model, trace);
  const PrefillPass pass = Named(PrefillPass{sequences, tokens, cached}, trace);
  return Under(PrefillAttention(Named(deployment, trace), pass, window > 0, layers), trace);
}

KernelTime MeanDecodeAttention(const Deployment& deployment, double sequences, double context, double grown,
                               double checked, double window, Trace& trace) {
  const SelectingLayers layers = SelectingLayersOf(deployment.model, trace);
  const DecodePass pass = Named(DecodePass{sequences, context, checked, grown}, trace);
  const KernelTime kernel = MeanDecodeAttention(Named(deployment, trace), pass, window > 0, layers);
  trace.Alias("mean_attention", kernel.time, "mean over these tokens");
  return Under(kernel, trace);
}

KernelTime PrefillRecurrence(const Deployment& deployment, double sequences, double tokens, Trace& trace) {
  const PrefillPass pass = Named(PrefillPass{sequences, tokens}, trace);
  return Under(PrefillRecurrence(Named(deployment, trace), pass.sequences, pass.tokens), trace);
}

KernelTime DecodeRecurrence(const Deployment& deployment, double sequences, double checked, Trace& trace) {
  const DecodePass pass = Named(DecodePass{.sequences = sequences, .checked = checked}, trace);
  return Under(DecodeRecurrence(Named(deployment, trace), pass.sequences, pass.checked), trace);
}

BytesPerToken CompressedGrowth(const Deployment& deployment, Trace& trace) {
  return CompressedGrowth(Named(deployment, trace), SelectingLayersOf(deployment.model, trace));
}

Bytes CompressedFixed(const Deployment& deployment, double held_tokens, Trace& trace) {
  return CompressedFixed(Named(deployment, trace), trace.Carry("held_tokens", Ratio(held_tokens)),
                         SelectingLayersOf(deployment.model, trace));
}

KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, double rows, Trace& trace) {
  if (!trace.on()) return TimeProduct(deployment, product, rows);
  const ServedProduct& served = ServedAs(product.id);
  const KernelTime kernel = [&] {
    const Trace::Scope scope(trace, served.scope);
    const MatrixProduct named = Named(product, deployment, trace);
    return Under(TimeProduct(Named(deployment, trace), named, trace.Carry("rows", Ratio(rows))), trace);
  }();
  trace.Alias(served.symbol, kernel.time, "time of this product");
  return kernel;
}

KernelTime TimeExperts(const Deployment& deployment, double rows, double held_tokens, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  return Under(TimeExperts(Named(deployment, trace),
                           {trace.Carry("rows", Ratio(rows)), trace.Carry("held_tokens", Ratio(held_tokens)),
                            trace.Carry("routed_width", Ratio(RoutedWidth(deployment.model, trace)))}),
               trace);
}

}  // namespace slipstick
