#include "core/workload/layer.h"

#include <algorithm>
#include <cmath>

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

MatrixProducts AttentionProducts(const Model& model, const LayerWidths& widths) {
  const auto hidden = static_cast<double>(model.hidden), width = static_cast<double>(model.HeadDim());
  MatrixProducts products;
  if (!model.mla) {
    const double gates = model.attention_gate ? widths.heads : 0;
    products.Add(ProductId::kQueryKeyValue, (widths.heads + gates + 2 * widths.kv_heads) * width, hidden);
    products.Add(ProductId::kAttentionOut, hidden, widths.heads * width);
    return products;
  }
  const auto query_rank = static_cast<double>(model.mla->q_lora_rank), kv_rank = static_cast<double>(model.mla->kv_lora_rank);
  const auto nope = static_cast<double>(model.mla->nope_head_dim), rope = static_cast<double>(model.mla->rope_head_dim);
  const auto value = static_cast<double>(model.mla->value_head_dim);
  if (query_rank > 0) {
    products.Add(ProductId::kQueryDown, query_rank, hidden);
    products.Add(ProductId::kQueryUp, widths.heads * (nope + rope), query_rank);
  } else {
    products.Add(ProductId::kQuery, widths.heads * (nope + rope), hidden);
  }
  products.Add(ProductId::kKeyValueDown, kv_rank + rope, hidden);
  products.Add(ProductId::kKeyValueUp, widths.heads * (nope + value), kv_rank);
  products.Add(ProductId::kAttentionOut, hidden, widths.heads * value);
  return products;
}

MatrixProducts RecurrentProducts(const Model& model, const LayerWidths& widths) {
  const LinearAttention& linear = *model.linear_attention;
  const auto hidden = static_cast<double>(model.hidden), rank = static_cast<double>(linear.step_rank);
  const double inner = widths.recurrent_inner;
  MatrixProducts products;
  products.Add(ProductId::kRecurrentIn, widths.recurrent_columns, hidden);
  products.Add(ProductId::kRecurrentOut, hidden, inner);
  if (linear.kind == LinearAttentionKind::kMamba) {
    products.Add(ProductId::kStepsAndStates, rank + 2 * static_cast<double>(linear.state), inner);
    if (rank > 0) products.Add(ProductId::kStepsUp, inner, rank);
  } else if (linear.kind == LinearAttentionKind::kKimiDelta) {
    products.Add(ProductId::kDecaysUp, inner, static_cast<double>(linear.head_dim));
    products.Add(ProductId::kGatesUp, inner, static_cast<double>(linear.head_dim));
  }
  return products;
}

double MlpBiases(const Model& model, double inner) {
  if (model.biases != Biases::kMlp && model.biases != Biases::kAll) return 0;
  return (model.gated ? 2 : 1) * inner + static_cast<double>(model.hidden);
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

LayerWidths WidthsOf(const Model& model, double ranks, double expert_ranks) {
  LayerWidths widths = WholeWidths(model);
  for (double LayerWidths::*width : {&LayerWidths::heads, &LayerWidths::kv_heads, &LayerWidths::mlp, &LayerWidths::shared,
                                     &LayerWidths::recurrent_heads, &LayerWidths::recurrent_key_heads, &LayerWidths::vocab}) {
    widths.*width = ceil(widths.*width / ranks - 1e-9);
  }
  widths.expert /= expert_ranks;
  widths.recurrent_columns /= ranks;
  if (model.linear_attention) widths.recurrent_inner = widths.recurrent_heads * static_cast<double>(model.linear_attention->head_dim);
  return widths;
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

MatrixProducts MixerProducts(const Model& model, Mixer mixer, const LayerWidths& widths) {
  return mixer == Mixer::kRecurrence ? RecurrentProducts(model, widths) : AttentionProducts(model, widths);
}

MatrixProducts FeedForwardProducts(const Model& model, FeedForward feed_forward, const LayerWidths& widths) {
  const auto hidden = static_cast<double>(model.hidden);
  const double inputs = model.gated ? 2 : 1;  // gate and up
  MatrixProducts products;
  if (feed_forward == FeedForward::kDense) {
    products.Add(ProductId::kMlpIn, inputs * widths.mlp, hidden);
    products.Add(ProductId::kMlpOut, hidden, widths.mlp);
    return products;
  }
  products.Add(ProductId::kRouter, static_cast<double>(model.moe->experts), hidden);
  products.Add(ProductId::kExpertsIn, inputs * widths.expert, hidden);
  products.Add(ProductId::kExpertsOut, hidden, widths.expert);
  if (widths.shared > 0) {
    products.Add(ProductId::kSharedIn, inputs * widths.shared, hidden);
    products.Add(ProductId::kSharedOut, hidden, widths.shared);
  }
  return products;
}

MatrixProduct HeadProduct(const Model& model, const LayerWidths& widths) {
  return {ProductId::kHead, widths.vocab, static_cast<double>(model.hidden)};
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

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths) {
  const auto hidden = static_cast<double>(model.hidden), norms = static_cast<double>(model.norms.per_layer);
  // Parallel attention and MLP are added to the residual stream in one pass.
  const double added = model.parallel_attention ? 8 : 2 * 6;
  const auto [forward, backward] = ActivationOf(model);
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  return {RowPass{"norms", ProductRows::kSequenceParallel, norms * hidden, 4, 8, true},
          RowPass{"residuals", ProductRows::kSequenceParallel, hidden, added, added},
          RowPass{"rotary", ProductRows::kTokens, CoreOf(model, kind.mixer, widths).columns, 2, 2},
          RowPass{"activation", ProductRows::kTokens, has_experts ? widths.shared : widths.mlp, forward, backward, true},
          RowPass{"experts_activation", ProductRows::kRouted, has_experts ? widths.expert : 0, forward, backward, true}};
}

double ExpertCopies(const Moe& moe, double ranks) { return ranks * (1 - std::pow(1 - 1 / ranks, static_cast<double>(moe.top_k))); }

double RecurrencePairs(const LinearAttention& linear, double tokens) {
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  if (linear.kind == LinearAttentionKind::kMamba) return 3 * head_dim * state;
  return RecurrenceChunk(tokens) * (state + head_dim) + 2 * head_dim * state;
}

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths) {
  if (mixer == Mixer::kRecurrence) {
    return {widths.recurrent_heads, widths.recurrent_key_heads, static_cast<double>(model.linear_attention->state),
            static_cast<double>(model.linear_attention->head_dim), widths.recurrent_columns + widths.recurrent_inner};
  }
  MixerCore core{widths.heads, widths.kv_heads, static_cast<double>(model.HeadDim()), static_cast<double>(model.HeadDim())};
  if (model.mla) {
    core.kv_heads = core.heads;
    core.query_width = static_cast<double>(model.mla->nope_head_dim + model.mla->rope_head_dim);
    core.value_width = static_cast<double>(model.mla->value_head_dim);
  }
  core.columns = (core.heads + core.kv_heads) * (core.query_width + core.value_width);
  return core;
}

}  // namespace slipstick
