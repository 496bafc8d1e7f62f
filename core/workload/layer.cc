#include "core/workload/layer.h"

#include <algorithm>

#include "core/base/figure.h"

namespace slipstick {
namespace {

// In the order of ProductId.
constexpr std::array kTraits{
    ProductTraits{"QKV projection", ProductRole::kMixer},
    ProductTraits{"query projection", ProductRole::kMixer},
    // Down projections are not split: each rank computes them for its own sequence-parallel tokens.
    ProductTraits{"query down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"query up projection", ProductRole::kMixer},
    ProductTraits{"key and value down projection", ProductRole::kMixer, ProductRows::kSequenceParallel},
    ProductTraits{"key and value up projection", ProductRole::kMixer},
    // Nor are the projections of the compressor and the indexer.
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
    // Latent experts: every rank projects its own tokens, so neither is split.
    ProductTraits{"expert down projection", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"expert up projection", ProductRole::kMlp, ProductRows::kSequenceParallel},
    ProductTraits{"layer embedding projection", ProductRole::kMlp},
    // These two are narrow, and therefore not split.
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

ActivationBytes ActivationOf(const Model& model) {
  const Ratio gated = model.Chosen(model.gated ? 1 : 0, "gated");
  return {4 + 2 * gated, 6 + 4 * gated};
}

namespace {

// Bytes per element of the residual stream that its additions move, per layer.
Ratio AddedBytes(const Model& model) {
  // Hyper-connections mix all streams around each part of a layer.
  if (model.compressed) return 2 * (6 * Ratio(model.compressed->streams) + 4);
  // With parallel attention and MLP, both are added to the residual stream in one pass.
  return 12 - 4 * model.Chosen(model.parallel_attention ? 1 : 0, "parallel_attention") +
         6 * min(1, Ratio(model.layer_embeddings.width));
}

}  // namespace

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths) {
  const Ratio hidden = model.hidden;
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  const auto [forward, backward] = ActivationOf(model);
  const Ratio added = AddedBytes(model);
  const Ratio normalized =
      Figure("Norm columns", Ratio(model.norms.per_layer) * hidden, "elements per row of the layer's norms");
  const Ratio activated =
      Figure("Activated columns", (has_experts ? widths.shared : widths.mlp) + Ratio(model.layer_embeddings.width),
             "that activation functions pass over: of the MLP and of the layer's embedding");
  return {RowPass{ProductRows::kSequenceParallel, normalized, 4, 8, true},
          RowPass{ProductRows::kSequenceParallel, hidden, added, added},
          RowPass{ProductRows::kTokens, CoreOf(model, kind.mixer, widths).columns, 2, 2},
          RowPass{ProductRows::kTokens, activated, forward, backward, true},
          RowPass{ProductRows::kRouted, has_experts ? widths.expert : Ratio(0), forward, backward, true}};
}

namespace {

MixerCore CoreOfRecurrence(const LinearAttention& linear, const LayerWidths& widths) {
  return {widths.recurrent_heads, widths.recurrent_key_heads, linear.state, linear.head_dim,
          Figure("Core columns", widths.recurrent_columns + widths.recurrent_inner,
                 "elements per token that the recurrence reads and writes")};
}

}  // namespace

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths) {
  if (mixer == Mixer::kRecurrence) return CoreOfRecurrence(*model.linear_attention, widths);
  MixerCore core;
  core.heads = widths.heads;
  if (model.mla) {
    core.kv_heads = core.heads;
    core.query_width =
        Figure("Query width", Ratio(model.mla->nope_head_dim) + Ratio(model.mla->rope_head_dim), "of a query or key");
    core.value_width = model.mla->value_head_dim;
  } else {
    core.kv_heads = IsLocal(mixer) ? widths.window_kv_heads : widths.kv_heads;
    core.query_width = core.value_width = IsLocal(mixer) ? model.WindowHeadDim() : Ratio(model.HeadDim());
  }
  const Ratio widths_of_head = core.query_width + core.value_width;
  core.columns = SharesKv(mixer) ? Figure("Core columns", core.heads * widths_of_head,
                                          "elements per token of queries and outputs; keys and values are those of an "
                                          "earlier layer")
                                 : Figure("Core columns", (core.heads + core.kv_heads) * widths_of_head,
                                          "elements per token that the attention core reads and writes");
  return core;
}

}  // namespace slipstick
