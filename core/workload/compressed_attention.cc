// Attention to a compressed history: shares of its kinds of layer, and keys that a token attends to.
#include "core/base/figure.h"
#include "core/workload/layer.h"

namespace slipstick {

Ratio HeavyShare(const Model& model) {
  return Figure("Heavy share", Ratio(model.compressed->heavy_layers) / Ratio(model.layers),
                "of the layers, those that see all entries");
}

CompressedKeys KeysOfCompressed(const Model& model, Ratio attended) {
  const CompressedAttention& compressed = *model.compressed;
  const Ratio ratio = compressed.ratio, heavy_ratio = compressed.heavy_ratio;
  const Ratio index_heads = model.indexer->heads, index_dim = model.indexer->head_dim;
  const Ratio heads = model.heads, head_dim = model.HeadDim();
  const Ratio index_share = IndexShare(model), heavy_share = HeavyShare(model);
  const Ratio score = Figure("Score width", index_heads * index_dim / (2 * heads * head_dim),
                             "an entry's score over a key, in multiply-adds of all heads");
  const Ratio window = Figure("Seen window", min(attended, Ratio(compressed.window)), "tokens of it");
  const Ratio selected =
      Figure("Selected entries", min(attended / ratio, Ratio(model.indexer->top_k)), "by the indexer");
  CompressedKeys keys;
  keys.all = Figure("Keys of a token",
                    window + index_share * (selected + score * attended / ratio) + heavy_share * attended / heavy_ratio,
                    "at the end of a document, mean over the layers; scores of the indexer as so many keys");
  keys.causal =
      Figure("Keys of a token under the causal mask",
             window * (1 - window / (2 * attended)) +
                 index_share * (selected * (1 - selected * ratio / (2 * attended)) + score * attended / (2 * ratio)) +
                 heavy_share * attended / (2 * heavy_ratio),
             "mean over a document");
  return keys;
}

// Every rank has the whole down projections and compressor; heads and head groups are split.
MatrixProduct CompressedProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const CompressedAttention& compressed = *model.compressed;
  const Ratio hidden = model.hidden, head_dim = model.HeadDim(), heads = model.heads;
  const Ratio q_lora_rank = compressed.q_lora_rank, output_groups = compressed.output_groups;
  const Ratio grouped = widths.heads / heads * output_groups * Ratio(compressed.output_rank);
  switch (id) {
    case ProductId::kQueryDown:
      return {id, q_lora_rank, hidden};
    case ProductId::kKeyValueDown:
      return {id, head_dim, hidden};
    case ProductId::kCompressor:  // rows and their weights, two of each for selected entries; mean over the layers
      return {id, 2 * head_dim * (2 * IndexShare(model) + HeavyShare(model)), hidden};
    case ProductId::kAttentionGroups:
      return {id, grouped, heads / output_groups * head_dim};
    case ProductId::kAttentionOut:
      return {id, hidden, grouped};
    default:  // queries
      return {id, widths.heads * head_dim, q_lora_rank};
  }
}

}  // namespace slipstick
