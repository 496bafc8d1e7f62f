// Parameters of the parts of a layer: in its GEMMs and beside them.
#include "core/base/sum.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

// A vector of outputs for each GEMM of an MLP that has biases.
double MlpBiases(const Model& model, double inner, std::string_view inner_is, std::string_view symbol, Trace& trace) {
  const double biased = model.biases == Biases::kMlp || model.biases == Biases::kAll ? 1 : 0,
               up_parts = model.gated ? 2 : 1;
  const auto hidden = static_cast<double>(model.hidden);
  trace.Input("biased", biased, "model.biases");
  trace.Input("up_parts", up_parts, "model.gated");
  trace.Alias("inner", inner, inner_is);
  FIGURE(trace, biases, biased * (up_parts * inner + hidden), (Note{"Biases of an MLP"}), biased, up_parts, inner,
         hidden);
  trace.Alias(symbol, biases, "biases");
  return biases;
}

// How often a kind of recurrence has a vector or a matrix of each size beside its GEMMs.
struct RecurrenceVectors {
  double channels;  // biases of the convolution
  double inner;     // D, norms, biases of step sizes or decays per channel
  double states;    // A of Mamba-1
  double heads;     // A, D, biases of step sizes per head
  double head_dim;  // a norm per head
  double step;      // norms of step size, B and C (Jamba)
};
RecurrenceVectors VectorsOf(LinearAttentionKind kind) {
  switch (kind) {
    case LinearAttentionKind::kMamba:
      return {.channels = 1, .inner = 2, .states = 1, .heads = 0, .head_dim = 0, .step = 1};
    case LinearAttentionKind::kMamba2:
      return {.channels = 1, .inner = 1, .states = 0, .heads = 3, .head_dim = 0, .step = 0};
    case LinearAttentionKind::kGatedDelta:
      return {.channels = 0, .inner = 0, .states = 0, .heads = 2, .head_dim = 1, .step = 0};
    case LinearAttentionKind::kKimiDelta:
      return {.channels = 0, .inner = 1, .states = 0, .heads = 1, .head_dim = 1, .step = 0};
    case LinearAttentionKind::kLightning:
      break;
  }
  return {.channels = 0, .inner = 1, .states = 0, .heads = 0, .head_dim = 0, .step = 0};
}

double SmallOfRecurrence(const LinearAttention& linear, const LayerWidths& widths, Trace& trace) {
  const auto heads = static_cast<double>(linear.heads), key_heads = static_cast<double>(linear.KeyHeads());
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  const auto convolution = static_cast<double>(linear.convolution), step_rank = static_cast<double>(linear.step_rank);
  const double key_parts = linear.kind == LinearAttentionKind::kMamba ? 0 : 2, recurrent_inner = widths.recurrent_inner;
  const auto [channel_vectors, inner_vectors, state_matrices, head_vectors, head_norms, step_norms] =
      VectorsOf(linear.kind);
  if (trace.on()) {
    for (const auto& [symbol, count] :
         {std::pair{"key_parts", key_parts}, std::pair{"channel_vectors", channel_vectors},
          std::pair{"inner_vectors", inner_vectors}, std::pair{"state_matrices", state_matrices},
          std::pair{"head_vectors", head_vectors}, std::pair{"head_norms", head_norms},
          std::pair{"step_norms", step_norms}}) {
      trace.Input(symbol, count, "model.linear.kind");
    }
    trace.Input("heads", heads, "model.linear.heads");
    trace.Input("key_heads", key_heads, linear.key_heads > 0 ? "model.linear.key_heads" : "model.linear.heads");
    trace.Input("head_dim", head_dim, "model.linear.head_dim");
    trace.Input("state", state, "model.linear.state");
    trace.Input("convolution", convolution, "model.linear.convolution");
    trace.Input("step_rank", step_rank, "model.linear.step_rank");
  }
  FIGURE(trace, inner, heads * head_dim, (Note{"Width of the recurrence", "on all devices"}), heads, head_dim);
  FIGURE(trace, channels, min(convolution, 1.0) * (inner + key_parts * key_heads * state),
         (Note{"Channels of the short convolution"}), convolution, inner, key_parts, key_heads, state);
  FIGURE(trace, whole_recurrence,
         channels * (convolution + channel_vectors) + inner * (inner_vectors + state_matrices * state) +
             head_vectors * heads + head_norms * head_dim + step_norms * (step_rank + 2 * state),
         (Note{"Parameters of the recurrence beside its GEMMs", "convolution, decays, step sizes, norms"}), channels,
         convolution, channel_vectors, inner, inner_vectors, state_matrices, state, head_vectors, heads, head_norms,
         head_dim, step_norms, step_rank);
  FIGURE(trace, small_mixer, whole_recurrence * (recurrent_inner / inner),
         (Note{"Small parameters of the mixer", "of the channels on one device"}), whole_recurrence, recurrent_inner,
         inner);
  return small_mixer;
}

}  // namespace

MatrixElements ElementsOf(const MatrixProducts& products, const Model& model, const LayerWidths& widths,
                          std::string_view symbol, Trace& trace) {
  ListedSum<double> all_tokens(trace), expert(trace);
  bool has_experts = false;
  for (const MatrixProduct& product : products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    const Trace::Scope scope(trace, name);
    if (trace.on()) ProductOf(product.id, model, widths, trace);
    const double outputs = product.outputs, inputs = product.inputs;
    FIGURE(trace, elements, outputs * inputs, (Note{"Weights of the GEMM"}), outputs, inputs);
    const bool is_expert = role == ProductRole::kExperts;
    has_experts = has_experts || is_expert;
    (is_expert ? expert : all_tokens).Add(name, elements, 1, "elements");
  }
  MatrixElements of;
  of.all_tokens =
      all_tokens.Total(symbol, Note{"Weights of the GEMMs of this part of a layer", "routed experts apart"});
  if (has_experts) of.expert = expert.Total("expert", Note{"Weights of one routed expert"});
  return of;
}

namespace {

// Norms and sinks; of every kind of entry a norm and weights of its tokens' places; constants of the hyper-connections.
double SmallOfCompressed(const Model& model, const LayerWidths& widths, Trace& trace) {
  const auto q_lora_rank = static_cast<double>(model.compressed->q_lora_rank),
             head_dim = static_cast<double>(model.HeadDim()), index_dim = static_cast<double>(model.indexer->head_dim),
             ratio = static_cast<double>(model.compressed->ratio),
             heavy_ratio = static_cast<double>(model.compressed->heavy_ratio),
             streams = static_cast<double>(model.compressed->streams);
  const double rank_heads = widths.heads, index_share = IndexShare(model, trace),
               heavy_share = HeavyShare(model, trace);
  trace.Input("q_lora_rank", q_lora_rank, "model.compressed.q_lora_rank");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  trace.Input("ratio", ratio, "model.compressed.ratio");
  trace.Input("heavy_ratio", heavy_ratio, "model.compressed.heavy_ratio");
  trace.Input("streams", streams, "model.compressed.streams");
  FIGURE(trace, small_mixer,
         q_lora_rank + head_dim + rank_heads + index_share * (1 + 2 * ratio) * (head_dim + index_dim) +
             heavy_share * (1 + heavy_ratio) * head_dim + min(1, streams - 1) * 2 * (streams * (2 + streams) + 3),
         (Note{"Small parameters of the mixer",
               "norms, sinks, weights of places in an entry, constants of hyper-connections"}),
         q_lora_rank, head_dim, rank_heads, index_share, ratio, index_dim, heavy_share, heavy_ratio, streams);
  return small_mixer;
}

}  // namespace

double SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace) {
  constexpr Note kNote{"Small parameters of the mixer", "biases and norms inside it"};
  if (mixer == Mixer::kRecurrence) return SmallOfRecurrence(*model.linear_attention, widths, trace);
  if (model.mla) {
    const auto q_lora_rank = static_cast<double>(model.mla->q_lora_rank),
               kv_lora_rank = static_cast<double>(model.mla->kv_lora_rank);
    trace.Input("q_lora_rank", q_lora_rank, "model.mla.q_lora_rank");
    trace.Input("kv_lora_rank", kv_lora_rank, "model.mla.kv_lora_rank");
    if (model.indexer) {
      const auto index_dim = static_cast<double>(model.indexer->head_dim);
      trace.Input("index_dim", index_dim, "model.indexer.head_dim");
      const double index_share = IndexShare(model, trace);
      FIGURE(trace, small_mixer, q_lora_rank + kv_lora_rank + 2 * index_share * index_dim,
             (Note{"Small parameters of the mixer", "norms inside it; the indexer's keys have a layer norm"}),
             q_lora_rank, kv_lora_rank, index_share, index_dim);
      return small_mixer;
    }
    FIGURE(trace, small_mixer, q_lora_rank + kv_lora_rank, kNote, q_lora_rank, kv_lora_rank);
    return small_mixer;
  }
  if (model.compressed) return SmallOfCompressed(model, widths, trace);
  const bool has_output_bias = model.biases == Biases::kAttention || model.biases == Biases::kAll;
  const double input_biases = has_output_bias || model.biases == Biases::kQkv ? 1 : 0,
               output_biases = has_output_bias ? 1 : 0;
  const double head_norms = model.norms.queries_and_keys != QkNorm::kHead ? 0 : SharesKv(mixer) ? 1 : 2;
  const double all_norms = model.norms.queries_and_keys == QkNorm::kAllHeads ? 1 : 0,
               sinks = model.attention_sinks ? 1 : 0;
  const bool is_local = IsLocal(mixer);
  const double own_kv_heads = is_local ? widths.window_kv_heads : widths.kv_heads,
               rank_kv_heads = SharesKv(mixer) ? 0 : own_kv_heads;
  const double rank_heads = widths.heads;
  if (is_local) trace.Alias("rank_kv_heads", own_kv_heads, "rank_window_kv_heads");
  if (SharesKv(mixer)) trace.Input("rank_kv_heads", rank_kv_heads, "model.kv_shared_layers");
  const auto head_dim = static_cast<double>(is_local ? model.WindowHeadDim() : model.HeadDim()),
             hidden = static_cast<double>(model.hidden);
  trace.Input("input_biases", input_biases, "model.biases");
  trace.Input("output_biases", output_biases, "model.biases");
  trace.Input("head_norms", head_norms, "model.qk_norm");
  trace.Input("all_norms", all_norms, "model.qk_norm");
  trace.Input("sinks", sinks, "model.attention_sinks");
  BindHeadDim("head_dim", head_dim, is_local, trace);
  const double index_norms = model.indexer ? 2 : 0, index_share = model.indexer ? IndexShare(model, trace) : 0,
               index_dim = model.indexer ? static_cast<double>(model.indexer->head_dim) : 0;
  trace.Input("index_norms", index_norms, "model.indexer");
  if (!model.indexer) trace.Input("index_share", index_share, "model.indexer");
  trace.Input("index_dim", index_dim, model.indexer ? "model.indexer.head_dim" : "model.indexer");
  FIGURE(trace, small_mixer,
         input_biases * (rank_heads + 2 * rank_kv_heads) * head_dim + output_biases * hidden + head_norms * head_dim +
             all_norms * (rank_heads + rank_kv_heads) * head_dim + sinks * rank_heads +
             index_norms * index_share * index_dim,
         kNote, input_biases, rank_heads, rank_kv_heads, head_dim, output_biases, hidden, head_norms, all_norms, sinks,
         index_norms, index_share, index_dim);
  return small_mixer;
}

double SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths, Trace& trace) {
  if (feed_forward == FeedForward::kDense) return MlpBiases(model, widths.mlp, "rank_mlp", "small_mlp", trace);
  const double router_biases = model.moe->router_bias ? 1 : 0, shared_gates = model.moe->shared_gate ? 1 : 0;
  const auto experts = static_cast<double>(model.moe->experts), hidden = static_cast<double>(model.hidden);
  trace.Input("router_biases", router_biases, "model.moe.router_bias");
  trace.Input("shared_gates", shared_gates, "model.moe.shared_gate");
  trace.Input("experts", experts, "model.moe.experts");
  FIGURE(trace, small_mlp, router_biases * experts + shared_gates * hidden,
         (Note{"Small parameters of a layer's experts", "biases of the router, gate of the shared experts"}),
         router_biases, experts, shared_gates, hidden);
  return small_mlp;
}

double ExpertBiases(const Model& model, const LayerWidths& widths, Trace& trace) {
  const Trace::Scope scope(trace, "expert_biases");
  return MlpBiases(model, widths.expert, "rank_expert", "expert_biases", trace);
}

double NormElements(const Model& model, Trace& trace) {
  const double norm_vectors = model.norms.kind == Norm::kLayer ? 2 : 1;  // scales, and biases of a layer norm
  const auto hidden = static_cast<double>(model.hidden);
  trace.Input("norm_vectors", norm_vectors, "model.norm");
  FIGURE(trace, norm_elements, norm_vectors * hidden, (Note{"Parameters of a norm"}), norm_vectors, hidden);
  return norm_elements;
}

double ResidualAdditions(const Model& model) { return model.parallel_attention ? 1 : 2; }

double NormsBeforeAdditions(const Model& model, Trace& trace) {
  const bool adds_embeddings = model.layer_embeddings.width > 0;
  const double norms_per_layer = static_cast<double>(model.norms.per_layer),
               additions = ResidualAdditions(model) + (adds_embeddings ? 1 : 0);
  trace.Input("additions", additions, adds_embeddings ? "model.layer_embedding" : "model.parallel_attention");
  FIGURE(trace, own_norms, max(0.0, norms_per_layer - additions),
         (Note{"Norms that no residual addition precedes", "of the outputs of attention and MLP"}), norms_per_layer,
         additions);
  return own_norms;
}

double RecurrencePairs(const LinearAttention& linear, double tokens) {
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  if (linear.kind == LinearAttentionKind::kMamba) return 3 * head_dim * state;
  return RecurrenceChunk(tokens) * (state + head_dim) + 2 * head_dim * state;
}

}  // namespace slipstick
