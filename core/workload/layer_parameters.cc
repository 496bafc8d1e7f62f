// Parameters of the parts of a layer, in its GEMMs and outside them.
#include "core/base/figure.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

// Each GEMM of an MLP with biases has a bias per output.
Ratio MlpBiases(const Model& model, Ratio inner) {
  const bool has_biases = model.biases == Biases::kMlp || model.biases == Biases::kAll;
  return Figure("Biases of an MLP",
                model.Chosen(has_biases ? 1 : 0, "biases") * (model.UpParts() * inner + Ratio(model.hidden)));
}

// Number of vectors or matrices of each size that a kind of recurrence has outside its GEMMs.
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

Ratio SmallOfRecurrence(const LinearAttention& linear, const LayerWidths& widths) {
  const Ratio heads = linear.heads, head_dim = linear.head_dim, state = linear.state, convolution = linear.convolution,
              step_rank = linear.step_rank;
  const RecurrenceVectors vectors = VectorsOf(linear.kind);
  const Ratio inner = linear.Inner();
  const Ratio channels = Figure("Channels of the short convolution", linear.ConvolvedChannels());
  const Ratio whole =
      Figure("Small parameters of the recurrence",
             channels * (convolution + vectors.channels) + inner * (vectors.inner + vectors.states * state) +
                 vectors.heads * heads + vectors.head_dim * head_dim + vectors.step * (step_rank + 2 * state),
             "beside its GEMMs: convolution, decays, step sizes, norms");
  return Figure("Small parameters of the mixer", whole * (widths.recurrent_inner / inner),
                "of the channels on one device");
}

// Norms and sinks; per kind of entry, a norm and the position weights of its tokens; hyper-connection constants.
Ratio SmallOfCompressed(const Model& model, const LayerWidths& widths) {
  const CompressedAttention& compressed = *model.compressed;
  const Ratio head_dim = model.HeadDim(), index_dim = model.indexer->head_dim, streams = compressed.streams;
  return Figure("Small parameters of the mixer",
                Ratio(compressed.q_lora_rank) + head_dim + widths.heads +
                    IndexShare(model) * (1 + 2 * Ratio(compressed.ratio)) * (head_dim + index_dim) +
                    HeavyShare(model) * (1 + Ratio(compressed.heavy_ratio)) * head_dim +
                    min(1, streams - 1) * 2 * (streams * (2 + streams) + 3),
                "norms, sinks, weights of places in an entry, constants of hyper-connections");
}

Ratio SmallOfLatent(const Model& model) {
  const Ratio norms = Ratio(model.mla->q_lora_rank) + Ratio(model.mla->kv_lora_rank);
  if (!model.indexer) return Figure("Small parameters of the mixer", norms, "norms inside it");
  return Figure("Small parameters of the mixer", norms + 2 * IndexShare(model) * Ratio(model.indexer->head_dim),
                "norms inside it; the indexer's keys have a layer norm");
}

}  // namespace

MatrixElements ElementsOf(const MatrixProducts& products) {
  MatrixElements elements;
  for (const MatrixProduct& product : products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    (role == ProductRole::kExperts ? elements.expert : elements.all_tokens) +=
        Figure(name, product.Elements(), "weights of this GEMM");
  }
  return elements;
}

Ratio SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths) {
  if (mixer == Mixer::kRecurrence) return SmallOfRecurrence(*model.linear_attention, widths);
  if (model.mla) return SmallOfLatent(model);
  if (model.compressed) return SmallOfCompressed(model, widths);
  const bool is_local = IsLocal(mixer);
  const bool has_output_bias = model.biases == Biases::kAttention || model.biases == Biases::kAll;
  const bool has_input_biases = has_output_bias || model.biases == Biases::kQkv;
  const QkNorm norms = model.norms.queries_and_keys;
  const Ratio heads = widths.heads, hidden = model.hidden;
  const Ratio kv_heads = SharesKv(mixer) ? Ratio(0) : is_local ? widths.window_kv_heads : widths.kv_heads;
  const Ratio head_dim = is_local ? model.WindowHeadDim() : Ratio(model.HeadDim());
  const Ratio input_biases = model.Chosen(has_input_biases ? 1 : 0, "biases"),
              output_biases = model.Chosen(has_output_bias ? 1 : 0, "biases"),
              sinks = model.Chosen(model.attention_sinks ? 1 : 0, "attention_sinks");
  const Ratio head_norms = model.Chosen(norms != QkNorm::kHead ? 0
                                        : SharesKv(mixer)      ? 1
                                                               : 2,
                                        "qk_norm"),
              all_norms = model.Chosen(norms == QkNorm::kEachHead || norms == QkNorm::kAllHeads ? 1 : 0, "qk_norm");
  const Ratio index_norms = model.indexer ? 2 * IndexShare(model) * Ratio(model.indexer->head_dim) : Ratio(0);
  return Figure("Small parameters of the mixer",
                input_biases * (heads + 2 * kv_heads) * head_dim + output_biases * hidden + head_norms * head_dim +
                    all_norms * (heads + kv_heads) * head_dim + sinks * heads + index_norms,
                "biases and norms inside it");
}

Ratio SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths) {
  if (feed_forward == FeedForward::kDense) return MlpBiases(model, widths.mlp);
  return Figure("Small parameters of the experts",
                model.Chosen(model.moe->router_bias ? 1 : 0, "moe.router_bias") * Ratio(model.moe->experts) +
                    model.Chosen(model.moe->shared_gate ? 1 : 0, "moe.shared_gate") * Ratio(model.hidden),
                "of a layer: biases of the router, gate of the shared experts");
}

Ratio ExpertBiases(const Model& model, const LayerWidths& widths) { return MlpBiases(model, widths.expert); }

Ratio NormElements(const Model& model) {
  const Ratio vectors = model.Chosen(model.norms.kind == Norm::kLayer ? 2 : 1, "norm");
  return Figure("Parameters of a norm", vectors * Ratio(model.hidden), "scales, and biases of a layer norm");
}

Ratio ResidualAdditions(const Model& model) {
  return 2 - model.Chosen(model.parallel_attention ? 1 : 0, "parallel_attention");
}

Ratio NormsBeforeAdditions(const Model& model) {
  const Ratio additions = ResidualAdditions(model) + min(1, Ratio(model.layer_embeddings.width));
  return Figure("Norms that no residual addition precedes", max(0, Ratio(model.norms.per_layer) - additions),
                "of the outputs of attention and MLP");
}

Ratio RecurrencePairs(const LinearAttention& linear, Ratio tokens) {
  const Ratio head_dim = linear.head_dim, state = linear.state;
  const Ratio pairs = linear.kind == LinearAttentionKind::kMamba
                          ? 3 * head_dim * state
                          : RecurrenceChunk(tokens) * (state + head_dim) + 2 * head_dim * state;
  return Figure("Multiply-adds of a recurrence", pairs, "per token and head: in a chunk, and with the state",
                "Dao and Gu 2024");
}

}  // namespace slipstick
