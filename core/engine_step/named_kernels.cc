// Kernels that name their terms, for callers whose numbers have nodes.
#include "core/base/figure.h"
#include "core/engine_step/adapters.h"
#include "core/engine_step/attention_time.h"
#include "core/engine_step/compiled_graph.h"
#include "core/engine_step/host_experts.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/imbalance.h"
#include "core/engine_step/layer_pipelined.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/product_time.h"
#include "core/engine_step/served_product.h"

namespace slipstick {
namespace {

// The trace of a deployment whose numbers have nodes.
struct Names {
  explicit Names(const Deployment& deployment) : trace(deployment.trace != nullptr ? *deployment.trace : off) {}
  template <class Q>
  void operator()(std::string_view symbol, Q value) const {
    NameNode(symbol, value, trace);
  }
  // With the nodes of the figures that it has just recorded.
  [[nodiscard]] KernelTime Carried(KernelTime kernel, std::string_view time) const {
    kernel.time = trace.Carry(time, kernel.time);
    kernel.flops = trace.Carry("flops", kernel.flops);
    kernel.bytes = trace.Carry("bytes", kernel.bytes);
    return kernel;
  }
  [[nodiscard]] PassCost Carried(PassCost pass, std::string_view time) const {
    pass.time = trace.Carry(time, pass.time);
    pass.occupancy = trace.Carry("occupancy", pass.occupancy);
    pass.fixed = trace.Carry("fixed_time", pass.fixed);
    return pass;
  }
  Trace off = Trace::Off();
  Trace& trace;
};

void NamePass(const PrefillPass& pass, const Names& name) {
  name("sequences", pass.sequences);
  name("tokens", pass.tokens);
  name("cached", pass.cached);
}
void NamePass(const DecodePass& pass, const Names& name) {
  name("sequences", pass.sequences);
  name("context", pass.context);
  name("checked", pass.checked);
  name("grown", pass.grown);
}

}  // namespace

Deployment WithSharedKvWidths(const Deployment& deployment) {
  const Names name(deployment);
  Deployment wide = deployment;
  wide.shapes.widths = SharedKvWidths(deployment.shapes.widths, name.trace);
  return wide;
}

Ratio NormsBeforeAdditions(const Deployment& deployment) {
  const Names name(deployment);
  return name.trace.Carry("own_norms", Ratio(NormsBeforeAdditions(deployment.model, name.trace)));
}

Ratio IndexShare(const Deployment& deployment) {
  const Names name(deployment);
  return name.trace.Carry("index_share", Ratio(IndexShare(deployment.model, name.trace)));
}

LayersByKv SplitBySharedKv(const Deployment& deployment) {
  const Names name(deployment);
  const LayersByKv layers = SplitBySharedKv(deployment.layers, name.trace);
  return {name.trace.Carry("own_full_layers", layers.own_full),
          name.trace.Carry("own_window_layers", layers.own_window),
          name.trace.Carry("shared_kv_full_layers", layers.shared_full)};
}

Ratio OwnDenseLayers(const Deployment& deployment) {
  const Names name(deployment);
  return name.trace.Carry("own_dense_layers", Ratio(OwnDenseLayers(deployment.layers, name.trace)));
}

Ratio ImbalanceOf(const Deployment& deployment) {
  const Names name(deployment);
  return name.trace.Carry("imbalance", Ratio(ImbalanceOf(deployment, name.trace)));
}

KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows) {
  const Names name(deployment);
  name("rows", rows);
  const KernelTime kernel = TimeProduct(deployment, product, rows, name.trace);
  return name.Carried(kernel, ServedAs(product.id).symbol);
}

KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows) {
  const Names name(deployment);
  name("rows", rows);
  return name.Carried(TimeOfAdapters(deployment, products, rows, name.trace), "adapter_time");
}

RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase) {
  const Names name(deployment);
  name("rows", rows);
  RoutedExperts routed = Routed(deployment, rows, phase, name.trace);
  routed.experts = name.Carried(routed.experts, "time");
  return routed;
}

Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view what,
                        const Adder& add) {
  const Names name(deployment);
  return name.trace.Carry("mean_experts", TimeHostExperts(deployment, rows, on_device, what, add, name.trace));
}

KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass, Ratio window) {
  const Names name(deployment);
  const Trace::Scope scope(name.trace, window > 0 ? "window_attention" : "attention");
  NamePass(pass, name);
  return name.Carried(PrefillAttention(deployment, pass.sequences, pass.tokens, pass.cached, window, name.trace),
                      "time");
}

KernelTime MeanDecodeAttention(const Deployment& deployment, const DecodePass& pass, Ratio window) {
  const Names name(deployment);
  const Trace::Scope scope(name.trace, window > 0 ? "window_attention" : "attention");
  NamePass(pass, name);
  return name.Carried(
      MeanDecodeAttention(deployment, pass.sequences, pass.context, pass.grown, pass.checked, window, name.trace),
      pass.grown > 0 ? "mean_attention" : "time");
}

KernelTime PrefillRecurrence(const Deployment& deployment, const PrefillPass& pass) {
  const Names name(deployment);
  const Trace::Scope scope(name.trace, "recurrence");
  NamePass(pass, name);
  name("rows", Figure("Tokens of the prompts", pass.sequences * pass.tokens));
  return name.Carried(PrefillRecurrence(deployment, pass.sequences, pass.tokens, name.trace), "time");
}

KernelTime DecodeRecurrence(const Deployment& deployment, const DecodePass& pass) {
  const Names name(deployment);
  const Trace::Scope scope(name.trace, "recurrence");
  NamePass(pass, name);
  return name.Carried(DecodeRecurrence(deployment, pass.sequences, pass.checked, name.trace), "recurrence");
}

Seconds WithImages(const Deployment& deployment, Ratio prompts, Ratio tokens, Seconds head,
                   OperatorBreakdown& operators) {
  const Names name(deployment);
  name("sequences", prompts);
  name("tokens", tokens);
  return name.trace.Carry("head", WithImages(deployment, prompts, "sequences", tokens, head, operators, name.trace));
}

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment) {
  const Names name(deployment);
  NamePass(pass, name);
  return name.Carried(CompiledGraphPrefill(pass, deployment, name.trace), "pass_time");
}

PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment) {
  const Names name(deployment);
  NamePass(pass, name);
  return name.Carried(CompiledGraphDecode(pass, deployment, name.trace), "step_time");
}

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment) {
  const Names name(deployment);
  NamePass(pass, name);
  return name.Carried(LayerPipelinedPrefill(pass, deployment, name.trace), "pass_time");
}

PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment) {
  const Names name(deployment);
  NamePass(pass, name);
  return name.Carried(LayerPipelinedDecode(pass, deployment, name.trace), "step_time");
}

}  // namespace slipstick
