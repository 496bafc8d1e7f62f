#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

ParameterCount CountParameters(const Model& model) {
  ParameterCount count;
  const LayerWidths whole = WholeWidths(model);
  const auto h = static_cast<double>(model.hidden), v = static_cast<double>(model.vocab);
  const auto layers = static_cast<double>(model.layers), mlp_layers = static_cast<double>(model.MlpLayers());
  const auto attention_layers = static_cast<double>(model.AttentionLayers()), linear_layers = layers - attention_layers;
  const auto moe_layers = static_cast<double>(model.MoeLayers()), dense_layers = mlp_layers - moe_layers;
  const double norm = NormElements(model);

  const double attention = MixerProducts(model, Mixer::kFullAttention, whole).Elements();
  const double linear = model.linear_attention ? MixerProducts(model, Mixer::kRecurrence, whole).Elements() : 0;
  const double mlp = FeedForwardProducts(model, FeedForward::kDense, whole).Elements();
  count.attention_per_layer = attention + SmallElements(model, Mixer::kFullAttention, whole);
  if (model.linear_attention) count.linear_attention_per_layer = linear + SmallElements(model, Mixer::kRecurrence, whole);
  count.dense_mlp_per_layer = mlp + SmallElements(model, FeedForward::kDense, whole);
  count.norms_per_layer = static_cast<double>(model.norms.per_layer) * norm;
  count.final_norm = norm;
  const double positions = model.positions.encoding == Position::kLearned ? static_cast<double>(model.positions.rows) : 0;
  count.embedding = v * h + positions * h + (model.norms.after_embedding ? norm : 0);
  count.head = (model.tied_embeddings ? 0 : v * h) + (model.head_bias ? v : 0);

  double moe = 0, moe_active = 0;
  if (model.moe) {
    const auto experts = static_cast<double>(model.moe->experts), chosen = static_cast<double>(model.moe->top_k);
    const double expert = ExpertElements(model, whole), small = SmallElements(model, FeedForward::kExperts, whole);
    const double shared = FeedForwardProducts(model, FeedForward::kExperts, whole).Elements() - expert;  // router and shared experts
    moe = shared + experts * expert;
    moe_active = shared + chosen * expert;
    count.moe_per_layer = moe + small + experts * ExpertBiases(model, whole);
    count.moe_active_per_layer = moe_active + small + chosen * ExpertBiases(model, whole);
  }
  // A layer without an MLP has no norm for it.
  const double norms = layers * count.norms_per_layer - (layers - mlp_layers) * norm;
  const double shared_by_all = attention_layers * count.attention_per_layer + linear_layers * count.linear_attention_per_layer + norms +
                               dense_layers * count.dense_mlp_per_layer + count.final_norm + count.embedding + count.head;
  count.total = shared_by_all + moe_layers * count.moe_per_layer;
  count.active = shared_by_all + moe_layers * count.moe_active_per_layer;
  const double everywhere = attention_layers * attention + linear_layers * linear + dense_layers * mlp;
  count.matrices = everywhere + moe_layers * moe;
  count.active_matrices = everywhere + moe_layers * moe_active;
  // An MTP module: projection of two concatenated streams, its norms, and a layer like the last one.
  const double last_layer =
      count.attention_per_layer + count.norms_per_layer + (model.moe ? count.moe_per_layer : count.dense_mlp_per_layer);
  count.mtp = static_cast<double>(model.mtp_layers) * (2 * h * h + 3 * norm + last_layer);
  return count;
}

}  // namespace slipstick
