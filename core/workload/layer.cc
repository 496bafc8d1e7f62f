#include "core/workload/layer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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

// Columns of the recurrence's input projection on all ranks: values and gates, keys and queries, step sizes or decays.
void ExplainColumns(const LinearAttention& linear, double all_columns, Trace& trace) {
  if (!trace.on()) return;
  const LinearAttentionKind kind = linear.kind;
  const bool has_keys = kind != LinearAttentionKind::kMamba;
  const bool is_delta = kind == LinearAttentionKind::kKimiDelta, full_gate = !is_delta || linear.full_gate;
  const double inner_parts = full_gate ? 2 : 1, key_parts = has_keys ? 2 : 0;
  const double head_parts = kind == LinearAttentionKind::kGatedDelta                                          ? 2
                            : kind == LinearAttentionKind::kMamba2 || kind == LinearAttentionKind::kKimiDelta ? 1
                                                                                                              : 0;
  const double rank_parts = !is_delta ? 0 : full_gate ? 1 : 2;
  const std::string_view kind_is = "model.linear.kind", gate_is = is_delta ? "model.linear.full_gate" : kind_is;
  const auto all_heads = static_cast<double>(linear.heads), all_key_heads = static_cast<double>(linear.KeyHeads());
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  trace.Input("inner_parts", inner_parts, gate_is);
  trace.Input("key_parts", key_parts, kind_is);
  trace.Input("head_parts", head_parts, kind_is);
  trace.Input("rank_parts", rank_parts, gate_is);
  trace.Input("state", state, "model.linear.state");
  trace.Record("all_columns",
               "inner_parts * all_heads * head_dim + key_parts * all_key_heads * state + head_parts * all_heads + rank_parts * head_dim",
               all_columns,
               Note{"Columns of the recurrence's input projection", "values and gates, keys and queries, step sizes or decays"},
               "inner_parts, all_heads, head_dim, key_parts, all_key_heads, state, head_parts, rank_parts", inner_parts, all_heads,
               head_dim, key_parts, all_key_heads, state, head_parts, rank_parts);
}

// Heads of layers with a sliding window: as stated, or those of the others.
void NameWindowHeads(const Model& model, const LayerWidths& whole, Trace& trace) {
  const double stated_kv_heads = static_cast<double>(model.window.kv_heads), stated_head_dim = static_cast<double>(model.window.head_dim);
  const double kv_heads = whole.kv_heads, head_dim = static_cast<double>(model.HeadDim());
  trace.Input("stated_kv_heads", stated_kv_heads, "model.window_kv_heads");
  trace.Input("stated_head_dim", stated_head_dim, "model.window_head_dim");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Record("window_kv_heads", "stated_kv_heads + max(0, 1 - stated_kv_heads) * kv_heads", whole.window_kv_heads,
               Note{"KV heads of a local layer", "as stated, or those of the others"}, "stated_kv_heads, kv_heads", stated_kv_heads,
               kv_heads);
  trace.Record("window_head_dim", "stated_head_dim + max(0, 1 - stated_head_dim) * head_dim", static_cast<double>(model.WindowHeadDim()),
               Note{"Head dimension of a local layer", "as stated, or that of the others"}, "stated_head_dim, head_dim", stated_head_dim,
               head_dim);
}

// Names the whole layer's widths.
void NameWidths(const Model& model, const LayerWidths& whole, Trace& trace) {
  if (!trace.on()) return;
  trace.Input("heads", whole.heads, "model.heads");
  trace.Input("kv_heads", whole.kv_heads, "model.kv_heads");
  trace.Input("ffn", whole.mlp, "model.ffn");
  trace.Input("vocab", whole.vocab, "model.vocab");
  if (model.HasWindows()) NameWindowHeads(model, whole, trace);
  if (model.SharesKv()) {
    const double ffn = whole.mlp, stated_shared_kv_ffn = static_cast<double>(model.shared_kv.ffn);
    trace.Input("stated_shared_kv_ffn", stated_shared_kv_ffn, "model.kv_shared_ffn");
    trace.Record("shared_kv_mlp", "stated_shared_kv_ffn + max(0, 1 - stated_shared_kv_ffn) * ffn", whole.shared_kv_mlp,
                 Note{"Inner width of the MLP of a layer that shares a KV cache", "as stated, or that of the others"},
                 "stated_shared_kv_ffn, ffn", stated_shared_kv_ffn, ffn);
  }
  if (model.layer_embeddings.width > 0) trace.Input("layer_embedding", whole.layer_inputs, "model.layer_embedding");
  if (model.moe) {
    const double shared_width = whole.shared, expert_ffn = whole.expert, shared_ffn = shared_width;
    const auto shared_experts = static_cast<double>(model.moe->shared_experts);
    trace.Input("expert_ffn", expert_ffn, "model.moe.expert_ffn");
    trace.Input("shared_ffn", shared_ffn, "model.moe.shared_ffn");
    trace.Record("shared_width", "shared_ffn + max(0, 1 - shared_ffn) * shared_experts * expert_ffn", shared_width,
                 Note{"Inner width of all shared experts", "as stated, or the routed experts' width times their number"},
                 "shared_ffn, shared_experts, expert_ffn", shared_ffn, shared_experts, expert_ffn);
  }
  if (model.linear_attention) {
    const LinearAttention& linear = *model.linear_attention;
    trace.Input("all_heads", whole.recurrent_heads, "model.linear.heads");
    trace.Input("all_key_heads", whole.recurrent_key_heads, linear.key_heads > 0 ? "model.linear.key_heads" : "model.linear.heads");
    trace.Input("head_dim", static_cast<double>(linear.head_dim), "model.linear.head_dim");
    ExplainColumns(linear, whole.recurrent_columns, trace);
  }
}

// The convolved columns, the gates and the decays of the recurrence are split as its heads are.
void SplitRecurrence(const LinearAttention& linear, double tp, LayerWidths& widths, Trace& trace) {
  const double all_heads = widths.recurrent_heads, all_key_heads = widths.recurrent_key_heads, all_columns = widths.recurrent_columns;
  const auto head_dim = static_cast<double>(linear.head_dim);
  FIGURE(trace, recurrent_heads, ceil(all_heads / tp), (Note{"Value heads of the recurrence on one device"}), all_heads, tp);
  FIGURE(trace, recurrent_key_heads, ceil(all_key_heads / tp), (Note{"Key heads of the recurrence on one device"}), all_key_heads, tp);
  FIGURE(trace, recurrent_columns, all_columns / tp, (Note{"Columns of the recurrence's input projection on one device"}), all_columns, tp);
  FIGURE(trace, recurrent_inner, recurrent_heads * head_dim, (Note{"Output width of the recurrence on one device"}), recurrent_heads,
         head_dim);
  widths.recurrent_heads = recurrent_heads, widths.recurrent_key_heads = recurrent_key_heads;
  widths.recurrent_columns = recurrent_columns, widths.recurrent_inner = recurrent_inner;
}

}  // namespace

const ProductTraits& TraitsOf(ProductId id) { return kTraits[static_cast<std::size_t>(id)]; }

LayerWidths WholeWidths(const Model& model) {
  LayerWidths widths;
  widths.heads = static_cast<double>(model.heads);
  widths.kv_heads = static_cast<double>(model.KvHeads());
  widths.window_kv_heads = static_cast<double>(model.WindowKvHeads());
  widths.mlp = static_cast<double>(model.ffn);
  widths.shared_kv_mlp = static_cast<double>(model.SharedKvFfn());
  widths.layer_inputs = static_cast<double>(model.layer_embeddings.width);
  widths.vocab = static_cast<double>(model.vocab);
  if (model.moe) {
    widths.shared = static_cast<double>(model.moe->shared_ffn);
    widths.expert = static_cast<double>(model.moe->expert_ffn);
  }
  if (model.linear_attention) {
    widths.recurrent_heads = static_cast<double>(model.linear_attention->heads);
    widths.recurrent_key_heads = static_cast<double>(model.linear_attention->KeyHeads());
    widths.recurrent_inner = static_cast<double>(model.linear_attention->Inner());
    widths.recurrent_columns = static_cast<double>(model.linear_attention->InputColumns());
  }
  return widths;
}

LayerWidths WholeWidths(const Model& model, Trace& trace) {
  const LayerWidths widths = WholeWidths(model);
  if (!trace.on()) return widths;
  NameWidths(model, widths, trace);
  trace.Alias("rank_heads", widths.heads, "heads");
  trace.Alias("rank_kv_heads", widths.kv_heads, "kv_heads");
  trace.Alias("rank_mlp", widths.mlp, "ffn");
  trace.Alias("rank_vocab", widths.vocab, "vocab");
  if (model.HasWindows()) trace.Alias("rank_window_kv_heads", widths.window_kv_heads, "window_kv_heads");
  if (model.SharesKv()) trace.Alias("rank_shared_kv_mlp", widths.shared_kv_mlp, "shared_kv_mlp");
  if (model.layer_embeddings.width > 0) trace.Alias("rank_layer_inputs", widths.layer_inputs, "layer_embedding");
  if (model.moe) {
    trace.Alias("rank_shared", widths.shared, "shared_width");
    trace.Alias("rank_expert", widths.expert, "expert_ffn");
  }
  if (model.linear_attention) {
    trace.Alias("recurrent_heads", widths.recurrent_heads, "all_heads");
    trace.Alias("recurrent_key_heads", widths.recurrent_key_heads, "all_key_heads");
    trace.Alias("recurrent_columns", widths.recurrent_columns, "all_columns");
    const double all_heads = widths.recurrent_heads, head_dim = static_cast<double>(model.linear_attention->head_dim);
    trace.Record("recurrent_inner", "all_heads * head_dim", widths.recurrent_inner, Note{"Output width of the recurrence"},
                 "all_heads, head_dim", all_heads, head_dim);
  }
  return widths;
}

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp, Trace& trace) {
  constexpr Note kWidth{"Width on one device", "of the most loaded tensor-parallel rank: whole heads, whole columns"};
  LayerWidths widths = WholeWidths(model);
  NameWidths(model, widths, trace);
  const double heads = widths.heads, kv_heads = widths.kv_heads, ffn = widths.mlp, vocab = widths.vocab;
  FIGURE(trace, rank_heads, ceil(heads / tp), (Note{"Query heads on one device", kWidth.note}), heads, tp);
  FIGURE(trace, rank_kv_heads, ceil(kv_heads / tp), (Note{"KV heads on one device", kWidth.note}), kv_heads, tp);
  FIGURE(trace, rank_mlp, ceil(ffn / tp), (Note{"Inner width of the MLP on one device", kWidth.note}), ffn, tp);
  FIGURE(trace, rank_vocab, ceil(vocab / tp), (Note{"Vocabulary on one device", kWidth.note}), vocab, tp);
  widths.heads = rank_heads, widths.kv_heads = rank_kv_heads, widths.mlp = rank_mlp, widths.vocab = rank_vocab;
  if (model.HasWindows()) {
    const double window_kv_heads = widths.window_kv_heads;
    FIGURE(trace, rank_window_kv_heads, ceil(window_kv_heads / tp), (Note{"KV heads of a local layer on one device", kWidth.note}),
           window_kv_heads, tp);
    widths.window_kv_heads = rank_window_kv_heads;
  }
  if (model.SharesKv()) {
    const double shared_kv_mlp = widths.shared_kv_mlp;
    FIGURE(trace, rank_shared_kv_mlp, ceil(shared_kv_mlp / tp),
           (Note{"Inner width of the MLP of a layer that shares a KV cache, on one device", kWidth.note}), shared_kv_mlp, tp);
    widths.shared_kv_mlp = rank_shared_kv_mlp;
  }
  if (model.layer_embeddings.width > 0) {
    const double layer_embedding = widths.layer_inputs;
    FIGURE(trace, rank_layer_inputs, layer_embedding / tp,
           (Note{"Columns of a layer's embedding that one device projects", "gathered by all ranks"}), layer_embedding, tp);
    widths.layer_inputs = rank_layer_inputs;
  }
  if (model.moe) {
    const double shared_width = widths.shared, expert_ffn = widths.expert;
    FIGURE(trace, rank_shared, ceil(shared_width / tp), (Note{"Inner width of the shared experts on one device", kWidth.note}),
           shared_width, tp);
    FIGURE(trace, rank_expert, expert_ffn / expert_tp, (Note{"Inner width of a routed expert on one device"}), expert_ffn, expert_tp);
    widths.shared = rank_shared, widths.expert = rank_expert;
  }
  if (model.linear_attention) SplitRecurrence(*model.linear_attention, tp, widths, trace);
  return widths;
}

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp) {
  Trace off = Trace::Off();
  return WidthsOf(model, tp, expert_tp, off);
}

LayerWidths SharedKvWidths(const LayerWidths& widths, Trace& trace) {
  LayerWidths wide = widths;
  wide.mlp = widths.shared_kv_mlp;
  trace.Alias("rank_mlp", wide.mlp, "rank_shared_kv_mlp");
  return wide;
}

const MatrixProduct* MatrixProducts::Find(ProductId id) const {
  const MatrixProduct* found = std::find_if(begin(), end(), [id](const MatrixProduct& product) { return product.id == id; });
  return found == end() ? nullptr : found;
}

double MatrixProducts::Elements() const {
  double sum = 0;
  for (const MatrixProduct& product : *this) sum += product.Elements();
  return sum;
}

ActivationBytes ActivationOf(const Model& model) { return model.gated ? ActivationBytes{6, 10} : ActivationBytes{4, 6}; }

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
  trace.Record("forward_element", text.forward, forward_element, Note{"Bytes per element of the pass, forward", kCounted}, text.property,
               holds);
  trace.Record("backward_element", text.backward, backward_element, Note{"Bytes per element of the pass, backward", kCounted},
               text.property, holds);
}

// Columns of the MLP that its activation passes over, and those of a layer's embedding.
double ActivatedColumns(const Model& model, LayerKind kind, const LayerWidths& widths, Trace& trace) {
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  const double inner = has_experts ? widths.shared : widths.mlp, layer_embedding = static_cast<double>(model.layer_embeddings.width);
  trace.Alias("inner", inner, has_experts ? "rank_shared" : "rank_mlp");
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, activated_columns, inner + layer_embedding,
         (Note{"Columns that activation functions pass over", "of the MLP and of the layer's embedding"}), inner, layer_embedding);
  return activated_columns;
}

}  // namespace

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths, Trace& trace) {
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
  const ElementText residuals = model.compressed ? ElementText{"2 * (6 * streams + 4)", "2 * (6 * streams + 4)", "streams", streams}
                                                 : ElementText{added_is, added_is, "parallel", model.parallel_attention ? 1.0 : 0.0};
  const double activated = ActivatedColumns(model, kind, widths, trace);
  FIGURE(trace, norm_columns, norms_per_layer * hidden, (Note{"Elements per row of the layer's norms"}), norms_per_layer, hidden);
  return {bound({"norms", ProductRows::kSequenceParallel, norm_columns, 4, 8, true}, "norm_columns"),
          bound({"residuals", ProductRows::kSequenceParallel, hidden, added, added}, "hidden", residuals),
          bound({"rotary", ProductRows::kTokens, CoreOf(model, kind.mixer, widths).columns, 2, 2}, "core_columns"),
          bound({"activation", ProductRows::kTokens, activated, forward, backward, true}, "activated_columns", activation),
          bound({"experts_activation", ProductRows::kRouted, has_experts ? widths.expert : 0, forward, backward, true}, "rank_expert",
                activation)};
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
  FIGURE(trace, core_columns, recurrent_columns + recurrent_inner, (Note{"Elements per token that the recurrence reads and writes"}),
         recurrent_columns, recurrent_inner);
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
    const auto nope_head_dim = static_cast<double>(model.mla->nope_head_dim), rope_head_dim = static_cast<double>(model.mla->rope_head_dim);
    FIGURE(trace, query_width, nope_head_dim + rope_head_dim, (Note{"Width of a query or key"}), nope_head_dim, rope_head_dim);
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
           (Note{"Elements per token of queries and outputs", "keys and values are those of an earlier layer"}), query_heads, query_width,
           value_width);
    core.columns = core_columns;
    return core;
  }
  FIGURE(trace, core_columns, (query_heads + core_kv_heads) * (query_width + value_width),
         (Note{"Elements per token that the attention core reads and writes"}), query_heads, core_kv_heads, query_width, value_width);
  core.columns = core_columns;
  return core;
}

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths) {
  Trace off = Trace::Off();
  return CoreOf(model, mixer, widths, off);
}

}  // namespace slipstick
