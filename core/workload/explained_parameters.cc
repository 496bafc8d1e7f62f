#include "core/workload/explained_parameters.h"

#include <string_view>

#include "core/base/sum.h"

namespace slipstick {
namespace {

// Weights of the GEMMs of a part of the layer; of the routed experts, those of one, apart as "expert".
void ExplainMatrices(const Model& model, const MatrixProducts& products, const LayerWidths& widths, std::string_view symbol, Trace& trace) {
  ListedSum<double> matrices(trace), expert(trace);
  for (const MatrixProduct& product : products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    const Trace::Scope scope(trace, name);
    const double outputs = ProductOf(product.id, model, widths, trace).outputs, inputs = product.inputs;
    FIGURE(trace, elements, outputs * inputs, (Note{"Weights of the GEMM"}), outputs, inputs);
    (role == ProductRole::kExperts ? expert : matrices).Add(name, elements, 1, "elements");
  }
  matrices.Total(symbol, Note{"Weights of the GEMMs of this part", "of one layer; routed experts apart"});
  expert.Total("expert", Note{"Weights of one routed expert"});
}

// Layers with attention, a recurrence, experts, a dense MLP.
struct LayersByPart {
  double attention, recurrent, experts, dense;
};
LayersByPart ExplainLayers(const Model& model, Trace& trace) {
  const auto layers = static_cast<double>(model.layers), recurrent_layers = static_cast<double>(model.LinearAttentionLayers());
  const auto mlp_layers = static_cast<double>(model.mlp_layers);
  trace.Input("layers", layers, "model.layers");
  const double attention_layers = layers - recurrent_layers;
  if (model.linear_attention) {
    trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
    trace.Record("attention_layers", "layers - recurrent_layers", attention_layers, Note{"Layers with attention"},
                 "layers, recurrent_layers", layers, recurrent_layers);
  } else {
    trace.Alias("attention_layers", attention_layers, "layers");
  }
  FIGURE(trace, with_mlp, mlp_layers + max(0.0, 1 - mlp_layers) * layers, (Note{"Layers with an MLP", "all where 0 are stated"}),
         mlp_layers, layers);
  if (!model.moe) {
    trace.Alias("dense_mlp_layers", with_mlp, "with_mlp");
    return {attention_layers, recurrent_layers, 0, with_mlp};
  }
  const auto dense_layers = static_cast<double>(model.moe->dense_layers), moe_every = static_cast<double>(model.moe->moe_every);
  FIGURE(trace, moe_layers, floor(max(layers - dense_layers, 0.0) / moe_every), (Note{"Layers with experts"}), layers, dense_layers,
         moe_every);
  FIGURE(trace, dense_mlp_layers, with_mlp - moe_layers, (Note{"Layers with a dense MLP"}), with_mlp, moe_layers);
  return {attention_layers, recurrent_layers, moe_layers, dense_mlp_layers};
}

// Weights of the GEMMs of one layer's parts.
struct PartMatrices {
  double attention, recurrent = 0, mlp, shared = 0, expert = 0;
};

PartMatrices ExplainParts(const Model& model, const LayerWidths& widths, Trace& trace) {
  const auto products = [&](FeedForward part) { return FeedForwardProducts(model, part, widths); };
  const MatrixProducts attention = MixerProducts(model, Mixer::kFullAttention, widths), mlp = products(FeedForward::kDense);
  PartMatrices parts{.attention = attention.Elements(), .mlp = mlp.Elements()};
  const auto explain = [&](std::string_view scope_name, const MatrixProducts& of, std::string_view symbol) {
    const Trace::Scope scope(trace, scope_name);
    ExplainMatrices(model, of, widths, symbol, trace);
  };
  explain("attention", attention, "attention_matrices");
  explain("MLP", mlp, "mlp_matrices");
  if (model.linear_attention) {
    const MatrixProducts recurrent = MixerProducts(model, Mixer::kRecurrence, widths);
    explain("recurrence", recurrent, "recurrent_matrices");
    parts.recurrent = recurrent.Elements();
  }
  if (model.moe) {
    const MatrixProducts experts = products(FeedForward::kExperts);
    explain("experts", experts, "shared_matrices");
    parts.expert = ExpertElements(model, widths);
    parts.shared = experts.Elements() - parts.expert;
  }
  return parts;
}

// MTP modules: a layer like the last one, the projection of two streams, and three norms each.
void ExplainModules(const Model& model, const ParameterCount& count, Trace& trace) {
  const auto mtp_layers = static_cast<double>(model.mtp_layers), hidden = static_cast<double>(model.hidden);
  const double norm = NormElements(model), mtp_parameters = count.mtp;
  const double last_layer =
      count.attention_per_layer + count.norms_per_layer + (model.moe ? count.moe_per_layer : count.dense_mlp_per_layer);
  const double attention_matrices = MixerProducts(model, Mixer::kFullAttention, WholeWidths(model)).Elements();
  const double other_weights = last_layer - attention_matrices;
  trace.Input("norm", norm, "model.norm");
  trace.Input("other_weights", other_weights, model.moe ? "model.moe" : "model.norm");
  trace.Record("last_layer", "attention_matrices + other_weights", last_layer, Note{"Weights of the last layer"},
               "attention_matrices, other_weights", attention_matrices, other_weights);
  trace.Record("mtp_parameters", "mtp_layers * (2 * hidden * hidden + 3 * norm + last_layer)", mtp_parameters,
               Note{"Parameters of the MTP modules", "a layer like the last, the projection of two streams, three norms each"},
               "mtp_layers, hidden, norm, last_layer", mtp_layers, hidden, norm, last_layer);
}

}  // namespace

void ExplainParameters(const Model& model, const ParameterCount& count, Trace& trace) {
  if (!trace.on()) return;
  const Trace::Scope scope(trace, "parameters");
  const double tp = 1, expert_tp = 1;
  CONSTANTS(trace, "training.parameters", "the whole model: nothing is split", tp, expert_tp);
  const LayerWidths widths = WidthsOf(model, tp, expert_tp, trace);
  const LayersByPart layers = ExplainLayers(model, trace);
  const PartMatrices parts = ExplainParts(model, widths, trace);
  const double top_k = model.moe ? static_cast<double>(model.moe->top_k) : 0,
               experts = model.moe ? static_cast<double>(model.moe->experts) : 0, all_experts = experts * parts.expert;
  ListedSum<double> active(trace), all(trace);
  const auto add = [&](std::string_view symbol, double part, double number, std::string_view number_is, bool is_in_both) {
    if (is_in_both) active.Add(symbol, part, number, symbol, number_is);
    all.Add(symbol, part, number, symbol, number_is);
  };
  add("attention_matrices", parts.attention, layers.attention, "attention_layers", true);
  add("recurrent_matrices", parts.recurrent, layers.recurrent, "recurrent_layers", true);
  add("mlp_matrices", parts.mlp, layers.dense, "dense_mlp_layers", true);
  add("shared_matrices", parts.shared, layers.experts, "moe_layers", true);
  if (model.moe) {
    const double expert = parts.expert;
    trace.Input("top_k", top_k, "model.moe.top_k");
    trace.Input("experts", experts, "model.moe.experts");
    FIGURE(trace, chosen_experts, top_k * expert, (Note{"Weights of the experts that a token visits"}), top_k, expert);
    trace.Record("all_experts", "experts * expert", all_experts, Note{"Weights of all routed experts of a layer"}, "experts, expert",
                 experts, expert);
    active.Add("chosen_experts", chosen_experts, layers.experts, "chosen_experts", "moe_layers");
    add("all_experts", all_experts, layers.experts, "moe_layers", false);
  }
  active.Record("active_matrices", count.active_matrices,
                Note{"Weights in the GEMMs of the layers", "of the experts, those active for a token"});
  all.Record("all_matrices", count.matrices, Note{"Weights in the GEMMs of the layers", "all experts"});
  const double all_matrices = count.matrices, embedding = count.embedding, lm_head = count.head;
  const double vocab = widths.vocab, hidden = static_cast<double>(model.hidden), head_parts = lm_head / (vocab * hidden);
  const double table_parts = embedding / (vocab * hidden);
  trace.Input("vocab", vocab, "model.vocab");
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("head_parts", head_parts, "model.tied_embeddings");
  trace.Input("table_parts", table_parts, "model.position");
  const double norms_and_biases = count.total - all_matrices - embedding - lm_head;
  trace.Input("norms_and_biases", norms_and_biases, "model.norm");
  trace.Input("mtp_layers", static_cast<double>(model.mtp_layers), "model.mtp_layers");
  if (model.mtp_layers > 0)
    ExplainModules(model, count, trace);
  else
    trace.Input("mtp_parameters", count.mtp, "model.mtp_layers");
  trace.Record("total_parameters", "all_matrices + (table_parts + head_parts) * vocab * hidden + norms_and_biases", count.total,
               Note{"Parameters of the model", "MTP modules apart"},
               "all_matrices, table_parts, head_parts, vocab, hidden, norms_and_biases", all_matrices, table_parts, head_parts, vocab,
               hidden, norms_and_biases);
}

}  // namespace slipstick
