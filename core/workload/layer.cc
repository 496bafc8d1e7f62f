#include "core/workload/layer.h"

#include <algorithm>
#include <string>

namespace slipstick {
namespace {

// In the order of ProductId.
constexpr std::array kTraits{
    ProductTraits{"QKV projection", ProductRole::kMixer},
    ProductTraits{"query projection", ProductRole::kMixer},
    // Down projections are not split: each rank computes them for its sequence-parallel tokens.
    ProductTraits{"query down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"query up projection", ProductRole::kMixer},
    ProductTraits{"key and value down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"key and value up projection", ProductRole::kMixer},
    // Neither are the compressor's and the indexer's.
    ProductTraits{"compressor", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"indexer queries", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"indexer keys and head weights", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"output gate", ProductRole::kMixer},
    ProductTraits{"output projection of groups", ProductRole::kMixer},
    ProductTraits{"output projection", ProductRole::kMixer},
    ProductTraits{"local QKV projection", ProductRole::kMixer},
    ProductTraits{"local query projection", ProductRole::kMixer},
    ProductTraits{"local output projection", ProductRole::kMixer},
    ProductTraits{"hyper-connections", ProductRole::kWide, ProductRows::kSequenceParallel},
    ProductTraits{"recurrence input projection", ProductRole::kMixer},
    ProductTraits{"recurrence output projection", ProductRole::kMixer},
    ProductTraits{"state projection", ProductRole::kMixer},
    ProductTraits{"step projection", ProductRole::kMixer},
    ProductTraits{"decay projection", ProductRole::kMixer},
    ProductTraits{"gate projection", ProductRole::kMixer},
    ProductTraits{"gate+up projection", ProductRole::kMlp},
    ProductTraits{"down projection", ProductRole::kMlp},
    ProductTraits{"router", ProductRole::kWide, ProductRows::kSequenceParallel},
    ProductTraits{"experts, gate+up", ProductRole::kExperts, ProductRows::kRouted},
    ProductTraits{"experts, down", ProductRole::kExperts, ProductRows::kRouted},
    ProductTraits{"shared experts, gate+up", ProductRole::kMlp},
    ProductTraits{"shared experts, down", ProductRole::kMlp},
    // Every rank projects its own tokens: neither is split.
    ProductTraits{"expert down projection", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"expert up projection", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"layer embedding projection", ProductRole::kMlp},
    // Narrow, and therefore whole on every rank.
    ProductTraits{"layer embedding gate", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"layer embedding output", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"LM head", ProductRole::kWide},
};
static_assert(kTraits.size() == static_cast<std::size_t>(ProductId::kHead) + 1);

}  // namespace

const ProductTraits& TraitsOf(ProductId id) { return kTraits[static_cast<std::size_t>(id)]; }

const MatrixProduct* MatrixProducts::Find(ProductId id) const {
  const MatrixProduct* found =
      std::find_if(begin(), end(), [id](const MatrixProduct& product) { return product.id == id; });
  return found == end() ? nullptr : found;
}

double MatrixProducts::Elements() const {
  double sum = 0;
  for (const MatrixProduct& product : *this) sum += product.Elements();
  return sum;
}

ActivationBytes ActivationOf(const Model& model) {
  return model.gated ? ActivationBytes{6, 10} : ActivationBytes{4, 6};
}

namespace {

// Formulas of the bytes that a pass moves per element, by a property of the model; "": constants.
struct ElementText {
  std::string_view forward = "", backward = "", property = "";
  double holds = 0;
};

void ExplainElements(const RowPass& pass, const ElementText& text, Trace& trace) {
  if (!trace.on()) return;
  const double forward_element = pass.forward, backward_element = pass.backward, holds = text.holds;
  constexpr std::string_view kCounted = "operands in 16 bits, each read or written once";
  if (text.forward.empty()) {
    CONSTANTS(trace, "element_wise." + std::string(pass.name), kCounted, forward_element, backward_element);
    return;
  }
  trace.Record("forward_element", text.forward, forward_element,
               Note{"Bytes per element of the pass, forward", kCounted}, text.property, holds);
  trace.Record("backward_element", text.backward, backward_element,
               Note{"Bytes per element of the pass, backward", kCounted}, text.property, holds);
}

// Columns of the MLP that its activation passes over, and those of a layer's embedding.
double ActivatedColumns(const Model& model, LayerKind kind, const LayerWidths& widths, Trace& trace) {
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  const double inner = has_experts ? widths.shared : widths.mlp,
               layer_embedding = static_cast<double>(model.layer_embeddings.width);
  trace.Alias("inner", inner, has_experts ? "rank_shared" : "rank_mlp");
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, activated_columns, inner + layer_embedding,
         (Note{"Columns that activation functions pass over", "of the MLP and of the layer's embedding"}), inner,
         layer_embedding);
  return activated_columns;
}

}  // namespace

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths,
                                            Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), norms_per_layer = static_cast<double>(model.norms.per_layer);
  // Parallel attention and MLP are added to the residual stream in one pass.
  const double streams = model.compressed ? static_cast<double>(model.compressed->streams) : 1;
  const double own_added = (model.parallel_attention ? 8 : 2 * 6) + (model.layer_embeddings.width > 0 ? 6 : 0);
  const auto [forward, backward] = ActivationOf(model);
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  const Trace::Scope scope(trace, "element_wise");
  const auto bound = [&trace](const RowPass& pass, std::string_view columns, const ElementText& text = {}) {
    const Trace::Scope pass_scope(trace, pass.name);
    trace.Alias("columns", pass.columns, columns);
    ExplainElements(pass, text, trace);
    return pass;
  };
  trace.Input("gated", model.gated ? 1.0 : 0.0, "model.gated");
  trace.Input("parallel", model.parallel_attention ? 1.0 : 0.0, "model.parallel_attention");
  const ElementText activation{"4 + 2 * gated", "6 + 4 * gated", "gated", model.gated ? 1.0 : 0.0};
  const bool adds_embeddings = model.layer_embeddings.width > 0;
  const std::string_view added_is = adds_embeddings ? "18 - 4 * parallel" : "12 - 4 * parallel";
  const double added = model.compressed ? 2 * (6 * streams + 4) : own_added;
  if (model.compressed) trace.Input("streams", streams, "model.compressed.streams");
  const ElementText residuals = model.compressed
                                    ? ElementText{"2 * (6 * streams + 4)", "2 * (6 * streams + 4)", "streams", streams}
                                    : ElementText{added_is, added_is, "parallel", model.parallel_attention ? 1.0 : 0.0};
  const double activated = ActivatedColumns(model, kind, widths, trace);
  FIGURE(trace, norm_columns, norms_per_layer * hidden, (Note{"Elements per row of the layer's norms"}),
         norms_per_layer, hidden);
  return {
      bound({"norms", ProductRows::kSequenceParallel, norm_columns, 4, 8, true}, "norm_columns"),
      bound({"residuals", ProductRows::kSequenceParallel, hidden, added, added}, "hidden", residuals),
      bound({"rotary", ProductRows::kTokens, CoreOf(model, kind.mixer, widths).columns, 2, 2}, "core_columns"),
      bound({"activation", ProductRows::kTokens, activated, forward, backward, true}, "activated_columns", activation),
      bound(
          {"experts_activation", ProductRows::kRouted, has_experts ? widths.expert : Ratio(0), forward, backward, true},
          "rank_expert", activation)};
}

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths) {
  Trace off = Trace::Off();
  return RowPassesOf(model, kind, widths, off);
}

namespace {

MixerCore CoreOfRecurrence(const LinearAttention& linear, const LayerWidths& widths, Trace& trace) {
  const double recurrent_columns = widths.recurrent_columns, recurrent_inner = widths.recurrent_inner;
  MixerCore core{widths.recurrent_heads, widths.recurrent_key_heads, static_cast<double>(linear.state),
                 static_cast<double>(linear.head_dim)};
  trace.Alias("query_heads", core.heads, "recurrent_heads");
  trace.Alias("core_kv_heads", core.kv_heads, "recurrent_key_heads");
  trace.Input("query_width", core.query_width, "model.linear.state");
  trace.Input("value_width", core.value_width, "model.linear.head_dim");
  FIGURE(trace, core_columns, recurrent_columns + recurrent_inner,
         (Note{"Elements per token that the recurrence reads and writes"}), recurrent_columns, recurrent_inner);
  core.columns = core_columns;
  return core;
}

}  // namespace

void BindHeadDim(std::string_view symbol, double head_dim, bool is_local, Trace& trace) {
  is_local ? trace.Alias(symbol, head_dim, "window_head_dim") : trace.Input(symbol, head_dim, "model.head_dim");
}

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace) {
  if (mixer == Mixer::kRecurrence) return CoreOfRecurrence(*model.linear_attention, widths, trace);
  const bool is_local = IsLocal(mixer);
  const auto head_dim = static_cast<double>(is_local ? model.WindowHeadDim() : model.HeadDim());
  const double query_heads = widths.heads;
  MixerCore core{query_heads, is_local ? widths.window_kv_heads : widths.kv_heads, head_dim, head_dim};
  trace.Alias("query_heads", query_heads, "rank_heads");
  if (model.mla) {
    const auto nope_head_dim = static_cast<double>(model.mla->nope_head_dim),
               rope_head_dim = static_cast<double>(model.mla->rope_head_dim);
    FIGURE(trace, query_width, nope_head_dim + rope_head_dim, (Note{"Width of a query or key"}), nope_head_dim,
           rope_head_dim);
    core.kv_heads = query_heads;
    core.query_width = query_width;
    core.value_width = static_cast<double>(model.mla->value_head_dim);
    trace.Alias("core_kv_heads", core.kv_heads, "rank_heads");
    trace.Input("value_width", core.value_width, "model.mla.value_head_dim");
  } else {
    trace.Alias("core_kv_heads", core.kv_heads, is_local ? "rank_window_kv_heads" : "rank_kv_heads");
    BindHeadDim("query_width", head_dim, is_local, trace);
    BindHeadDim("value_width", head_dim, is_local, trace);
  }
  const double core_kv_heads = core.kv_heads, query_width = core.query_width, value_width = core.value_width;
  if (SharesKv(mixer)) {
    FIGURE(trace, core_columns, query_heads * (query_width + value_width),
           (Note{"Elements per token of queries and outputs", "keys and values are those of an earlier layer"}),
           query_heads, query_width, value_width);
    core.columns = core_columns;
    return core;
  }
  FIGURE(trace, core_columns, (query_heads + core_kv_heads) * (query_width + value_width),
         (Note{"Elements per token that the attention core reads and writes"}), query_heads, core_kv_heads, query_width,
         value_width);
  core.columns = core_columns;
  return core;
}

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths) {
  Trace off = Trace::Off();
  return CoreOf(model, mixer, widths, off);
}

}  // namespace slipstick
