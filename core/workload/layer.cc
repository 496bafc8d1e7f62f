#include "core/workload/layer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace slipstick {
namespace {

constexpr double kRounding = 1e-9;  // a quotient this little above a whole number is that number

// In the order of ProductId.
constexpr std::array kTraits{
    ProductTraits{"QKV projection", ProductRole::kMixer},
    ProductTraits{"query projection", ProductRole::kMixer},
    // Down projections are not split: each rank computes them for its sequence-parallel tokens.
    ProductTraits{"query down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"query up projection", ProductRole::kMixer},
    ProductTraits{"key and value down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"key and value up projection", ProductRole::kMixer},
    ProductTraits{"output projection", ProductRole::kMixer},
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
    ProductTraits{"LM head", ProductRole::kWide},
};
static_assert(kTraits.size() == static_cast<std::size_t>(ProductId::kHead) + 1);

double MlpBiases(const Model& model, double inner) {
  if (model.biases != Biases::kMlp && model.biases != Biases::kAll) return 0;
  return (model.gated ? 2 : 1) * inner + static_cast<double>(model.hidden);
}

// Columns of the recurrence's input projection on all ranks: values and gates, keys and queries, step sizes or decays.
void ExplainColumns(const LinearAttention& linear, double all_columns, Trace& trace) {
  if (!trace.on()) return;
  const LinearAttentionKind kind = linear.kind;
  const bool has_keys = kind != LinearAttentionKind::kMamba;
  const double inner_parts = kind == LinearAttentionKind::kKimiDelta ? 1 : 2, key_parts = has_keys ? 2 : 0;
  const double head_parts = kind == LinearAttentionKind::kGatedDelta                                          ? 2
                            : kind == LinearAttentionKind::kMamba2 || kind == LinearAttentionKind::kKimiDelta ? 1
                                                                                                              : 0;
  const double rank_parts = kind == LinearAttentionKind::kKimiDelta ? 2 : 0;
  const auto all_heads = static_cast<double>(linear.heads), all_key_heads = static_cast<double>(linear.KeyHeads());
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  for (const auto& [symbol, parts] : {std::pair{"inner_parts", inner_parts}, std::pair{"key_parts", key_parts},
                                      std::pair{"head_parts", head_parts}, std::pair{"rank_parts", rank_parts}}) {
    trace.Input(symbol, parts, "model.linear.kind");
  }
  trace.Input("state", state, "model.linear.state");
  trace.Record("all_columns",
               "inner_parts * all_heads * head_dim + key_parts * all_key_heads * state + head_parts * all_heads + rank_parts * head_dim",
               all_columns,
               Note{"Columns of the recurrence's input projection", "values and gates, keys and queries, step sizes or decays"},
               "inner_parts, all_heads, head_dim, key_parts, all_key_heads, state, head_parts, rank_parts", inner_parts, all_heads,
               head_dim, key_parts, all_key_heads, state, head_parts, rank_parts);
}

// The convolved columns, the gates and the decays of the recurrence are split as its heads are.
void SplitRecurrence(const LinearAttention& linear, double tp, LayerWidths& widths, Trace& trace) {
  const double all_heads = widths.recurrent_heads, all_key_heads = widths.recurrent_key_heads, all_columns = widths.recurrent_columns;
  const auto head_dim = static_cast<double>(linear.head_dim);
  const double rounding = kRounding;
  trace.Input("all_heads", all_heads, "model.linear.heads");
  trace.Input("all_key_heads", all_key_heads, linear.key_heads > 0 ? "model.linear.key_heads" : "model.linear.heads");
  trace.Input("head_dim", head_dim, "model.linear.head_dim");
  ExplainColumns(linear, all_columns, trace);
  FIGURE(trace, recurrent_heads, ceil(all_heads / tp - rounding), (Note{"Value heads of the recurrence on one device"}), all_heads, tp,
         rounding);
  FIGURE(trace, recurrent_key_heads, ceil(all_key_heads / tp - rounding), (Note{"Key heads of the recurrence on one device"}),
         all_key_heads, tp, rounding);
  FIGURE(trace, recurrent_columns, all_columns / tp, (Note{"Columns of the recurrence's input projection on one device"}), all_columns, tp);
  FIGURE(trace, recurrent_inner, recurrent_heads * head_dim, (Note{"Output width of the recurrence on one device"}), recurrent_heads,
         head_dim);
  widths.recurrent_heads = recurrent_heads, widths.recurrent_key_heads = recurrent_key_heads;
  widths.recurrent_columns = recurrent_columns, widths.recurrent_inner = recurrent_inner;
}

double SmallOfRecurrence(const LinearAttention& linear) {
  const auto inner = static_cast<double>(linear.Inner()), state = static_cast<double>(linear.state);
  const auto heads = static_cast<double>(linear.heads), rank = static_cast<double>(linear.step_rank);
  const auto channels = static_cast<double>(linear.ConvolvedChannels()), head_dim = static_cast<double>(linear.head_dim);
  const double convolution = channels * static_cast<double>(linear.convolution);
  switch (linear.kind) {
    case LinearAttentionKind::kMamba:  // convolution and bias, step-size bias, A, D, norms of step size, B and C (Jamba)
      return convolution + channels + inner + inner * state + inner + rank + 2 * state;
    case LinearAttentionKind::kMamba2:  // convolution bias, step-size bias, A, D, norm
      return convolution + channels + 3 * heads + inner;
    case LinearAttentionKind::kGatedDelta:  // step-size bias, A, norm per head
      return convolution + 2 * heads + head_dim;
    case LinearAttentionKind::kKimiDelta:  // decay bias, A, norm per head
      return convolution + inner + heads + head_dim;
    case LinearAttentionKind::kLightning:  // norm
      return convolution + inner;
  }
  return convolution;
}

}  // namespace

const ProductTraits& TraitsOf(ProductId id) { return kTraits[static_cast<std::size_t>(id)]; }

LayerWidths WholeWidths(const Model& model) {
  LayerWidths widths;
  widths.heads = static_cast<double>(model.heads);
  widths.kv_heads = static_cast<double>(model.KvHeads());
  widths.mlp = static_cast<double>(model.ffn);
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

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp, Trace& trace) {
  constexpr Note kWidth{"Width on one device", "of the most loaded tensor-parallel rank: whole heads, whole columns"};
  LayerWidths widths = WholeWidths(model);
  const double rounding = kRounding;
  const double heads = widths.heads, kv_heads = widths.kv_heads, ffn = widths.mlp, vocab = widths.vocab;
  trace.Input("heads", heads, "model.heads");
  trace.Input("kv_heads", kv_heads, "model.kv_heads");
  FIGURE(trace, rank_heads, ceil(heads / tp - rounding), (Note{"Query heads on one device", kWidth.note}), heads, tp, rounding);
  FIGURE(trace, rank_kv_heads, ceil(kv_heads / tp - rounding), (Note{"KV heads on one device", kWidth.note}), kv_heads, tp, rounding);
  FIGURE(trace, rank_mlp, ceil(ffn / tp - rounding), (Note{"Inner width of the MLP on one device", kWidth.note}), ffn, tp, rounding);
  FIGURE(trace, rank_vocab, ceil(vocab / tp - rounding), (Note{"Vocabulary on one device", kWidth.note}), vocab, tp, rounding);
  widths.heads = rank_heads, widths.kv_heads = rank_kv_heads, widths.mlp = rank_mlp, widths.vocab = rank_vocab;
  if (model.moe) {
    const double shared_width = widths.shared, expert_ffn = widths.expert, shared_ffn = shared_width;
    const auto shared_experts = static_cast<double>(model.moe->shared_experts);
    trace.Input("shared_ffn", shared_ffn, "model.moe.shared_ffn");
    trace.Record("shared_width", "shared_ffn + max(0, 1 - shared_ffn) * shared_experts * expert_ffn", shared_width,
                 Note{"Inner width of all shared experts", "as stated, or the routed experts' width times their number"},
                 "shared_ffn, shared_experts, expert_ffn", shared_ffn, shared_experts, expert_ffn);
    FIGURE(trace, rank_shared, ceil(shared_width / tp - rounding), (Note{"Inner width of the shared experts on one device", kWidth.note}),
           shared_width, tp, rounding);
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

const MatrixProduct* MatrixProducts::Find(ProductId id) const {
  const MatrixProduct* found = std::find_if(begin(), end(), [id](const MatrixProduct& product) { return product.id == id; });
  return found == end() ? nullptr : found;
}

double MatrixProducts::Elements() const {
  double sum = 0;
  for (const MatrixProduct& product : *this) sum += product.Elements();
  return sum;
}

double SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths) {
  if (mixer == Mixer::kRecurrence) {
    return SmallOfRecurrence(*model.linear_attention) * (widths.recurrent_inner / static_cast<double>(model.linear_attention->Inner()));
  }
  // Norms of the compressed queries and of the latent KV vector.
  if (model.mla) return static_cast<double>(model.mla->q_lora_rank + model.mla->kv_lora_rank);
  const auto width = static_cast<double>(model.HeadDim());
  const bool output_bias = model.biases == Biases::kAttention || model.biases == Biases::kAll;
  double small = 0;
  if (output_bias || model.biases == Biases::kQkv) small += (widths.heads + 2 * widths.kv_heads) * width;
  if (output_bias) small += static_cast<double>(model.hidden);
  if (model.norms.queries_and_keys == QkNorm::kHead) small += 2 * width;
  if (model.norms.queries_and_keys == QkNorm::kAllHeads) small += (widths.heads + widths.kv_heads) * width;
  if (model.attention_sinks) small += widths.heads;
  return small;
}

double SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths) {
  if (feed_forward == FeedForward::kDense) return MlpBiases(model, widths.mlp);
  const double router_bias = model.moe->router_bias ? static_cast<double>(model.moe->experts) : 0;
  return router_bias + (model.moe->shared_gate ? static_cast<double>(model.hidden) : 0);
}

namespace {

// Parameters of a mixer outside its GEMMs, and what they rest on.
void ExplainSmall(const Model& model, Mixer mixer, double small_mixer, Trace& trace) {
  const Note note{"Small parameters of the mixer", "biases, norms inside it, per-head and per-channel parameters"};
  if (mixer == Mixer::kRecurrence) {
    const LinearAttention& linear = *model.linear_attention;
    const auto heads = static_cast<double>(linear.heads), head_dim = static_cast<double>(linear.head_dim);
    const auto state = static_cast<double>(linear.state), convolution = static_cast<double>(linear.convolution);
    trace.Input("heads", heads, "model.linear.heads");
    trace.Input("head_dim", head_dim, "model.linear.head_dim");
    const std::vector<std::pair<std::string, double>> counted{{"counted for the kind of recurrence", small_mixer}};
    return trace.Choice("small_mixer", small_mixer, note, counted, 0, "heads, head_dim, state, convolution", heads, head_dim, state,
                        convolution);
  }
  if (!model.mla) return trace.Input("small_mixer", small_mixer, "model.biases");
  const auto q_lora_rank = static_cast<double>(model.mla->q_lora_rank), kv_lora_rank = static_cast<double>(model.mla->kv_lora_rank);
  trace.Record("small_mixer", "q_lora_rank + kv_lora_rank", small_mixer, note, "q_lora_rank, kv_lora_rank", q_lora_rank, kv_lora_rank);
}

}  // namespace

double SmallElements(const Model& model, LayerKind kind, const LayerWidths& widths, Trace& trace) {
  const double small_mixer = SmallElements(model, kind.mixer, widths), small_mlp = SmallElements(model, kind.feed_forward, widths);
  if (trace.on()) {
    ExplainSmall(model, kind.mixer, small_mixer, trace);
    const bool has_router_bias = model.moe && kind.feed_forward == FeedForward::kExperts && model.moe->router_bias;
    trace.Input("small_mlp", small_mlp, has_router_bias ? "model.moe.router_bias" : "model.biases");
  }
  FIGURE(trace, small_parameters, small_mixer + small_mlp, (Note{"Parameters outside the GEMMs and norms"}), small_mixer, small_mlp);
  return small_parameters;
}

double ExpertElements(const Model& model, const LayerWidths& widths) {
  double elements = 0;
  for (const MatrixProduct& product : FeedForwardProducts(model, FeedForward::kExperts, widths)) {
    if (TraitsOf(product.id).role == ProductRole::kExperts) elements += product.Elements();
  }
  return elements;
}

double ExpertBiases(const Model& model, const LayerWidths& widths) { return MlpBiases(model, widths.expert); }

double NormElements(const Model& model) { return (model.norms.kind == Norm::kLayer ? 2 : 1) * static_cast<double>(model.hidden); }

double ResidualAdditions(const Model& model) { return model.parallel_attention ? 1 : 2; }

ActivationBytes ActivationOf(const Model& model) { return model.gated ? ActivationBytes{6, 10} : ActivationBytes{4, 6}; }

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), norms_per_layer = static_cast<double>(model.norms.per_layer);
  // Parallel attention and MLP are added to the residual stream in one pass.
  const double added = model.parallel_attention ? 8 : 2 * 6;
  const auto [forward, backward] = ActivationOf(model);
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  const Trace::Scope scope(trace, "element_wise");
  const auto bound = [&trace](RowPass pass, std::string_view columns) {
    const Trace::Scope pass_scope(trace, pass.name);
    trace.Alias("columns", pass.columns, columns);
    return pass;
  };
  FIGURE(trace, norm_columns, norms_per_layer * hidden, (Note{"Elements per row of the layer's norms"}), norms_per_layer, hidden);
  return {bound({"norms", ProductRows::kSequenceParallel, norm_columns, 4, 8, true}, "norm_columns"),
          bound({"residuals", ProductRows::kSequenceParallel, hidden, added, added}, "hidden"),
          bound({"rotary", ProductRows::kTokens, CoreOf(model, kind.mixer, widths).columns, 2, 2}, "core_columns"),
          bound({"activation", ProductRows::kTokens, has_experts ? widths.shared : widths.mlp, forward, backward, true},
                has_experts ? "rank_shared" : "rank_mlp"),
          bound({"experts_activation", ProductRows::kRouted, has_experts ? widths.expert : 0, forward, backward, true}, "rank_expert")};
}

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths) {
  Trace off = Trace::Off();
  return RowPassesOf(model, kind, widths, off);
}

double ExpertCopies(const Moe& moe, double ranks) { return ranks * (1 - std::pow(1 - 1 / ranks, static_cast<double>(moe.top_k))); }

double RecurrencePairs(const LinearAttention& linear, double tokens) {
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  if (linear.kind == LinearAttentionKind::kMamba) return 3 * head_dim * state;
  return RecurrenceChunk(tokens) * (state + head_dim) + 2 * head_dim * state;
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

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace) {
  if (mixer == Mixer::kRecurrence) return CoreOfRecurrence(*model.linear_attention, widths, trace);
  const auto head_dim = static_cast<double>(model.HeadDim());
  const double query_heads = widths.heads;
  MixerCore core{query_heads, widths.kv_heads, head_dim, head_dim};
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
    trace.Alias("core_kv_heads", core.kv_heads, "rank_kv_heads");
    trace.Input("query_width", head_dim, "model.head_dim");
    trace.Input("value_width", head_dim, "model.head_dim");
  }
  const double core_kv_heads = core.kv_heads, query_width = core.query_width, value_width = core.value_width;
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
