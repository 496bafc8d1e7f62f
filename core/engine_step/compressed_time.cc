#include "core/engine_step/compressed_time.h"

#include "core/base/figure.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {
namespace {

constexpr std::string_view kV4Source =
    "DeepSeek-V4: huggingface/transformers, models/deepseek_v4/modular_deepseek_v4.py at 02356fe";

// Shares of the attention layers: `index`, those that score and select entries; `heavy`, heavily compressed ones.
struct SelectingLayers {
  Ratio index = 0, heavy = 0;
};
SelectingLayers SelectingLayersOf(const Model& model) { return {IndexShare(model), HeavyShare(model)}; }

Bytes EntryBytes(const Deployment& deployment) {
  const Ratio head_dim = deployment.shapes.head_dim, rotary(deployment.model.compressed->rope_head_dim);
  const Bytes element = deployment.formats.sizes.kv_cache, scales = 8 * kB;  // seven one-byte scales, padded
  return Figure("Row of the KV cache",
                element < 2 * kB ? (head_dim - rotary) * element + 2 * kB * rotary + scales : head_dim * element,
                "key and value of all heads at once; in a narrow format the rotary part in 16 bit, and scales",
                "vllm/v1/attention/ops/deepseek_v4_ops/cache_utils.py: 448 bytes of fp8, 128 of bf16, 8 of scales");
}

Bytes EntryKeyBytes(const Deployment& deployment) {
  const Ratio index_dim(deployment.model.indexer->head_dim);
  const Bytes element = deployment.formats.sizes.kv_cache;
  return Figure("Key of an entry for the indexer",
                element < 2 * kB ? index_dim / 2 * kB + index_dim / 32 * kB : index_dim * element,
                "as the KV cache; in a narrow one in 4 bit, a scale byte for 32 numbers");
}

}  // namespace

BytesPerToken CompressedGrowth(const Deployment& deployment) {
  const SelectingLayers layers = SelectingLayersOf(deployment.model);
  const CompressedAttention& compressed = *deployment.model.compressed;
  const Bytes entry = EntryBytes(deployment), key = EntryKeyBytes(deployment);
  return Figure(
      "KV cache of a layer and token",
      (layers.index * (entry + key) / Ratio(compressed.ratio) + layers.heavy * entry / Ratio(compressed.heavy_ratio)) /
          (1 * kToken),
      "entries and their keys, beside the window; mean over the layers", kV4Source);
}

Bytes CompressedFixed(const Deployment& deployment, Ratio held_tokens) {
  const SelectingLayers layers = SelectingLayersOf(deployment.model);
  const CompressedAttention& compressed = *deployment.model.compressed;
  const Ratio head_dim = deployment.shapes.head_dim, index_dim(deployment.model.indexer->head_dim);
  return Figure("KV cache of a layer beside its entries",
                min(held_tokens, Ratio(compressed.window)) * EntryBytes(deployment) +
                    16 * kB * layers.index * Ratio(compressed.ratio) * (head_dim + index_dim) +
                    8 * kB * layers.heavy * Ratio(compressed.heavy_ratio) * head_dim,
                "the window, and rows and weights in fp32 of which the next entry is made; mean over the layers",
                kV4Source);
}

KernelTime CompressedAttentionTime(const Deployment& deployment, const SequenceQueries& queries) {
  const CompressedAttention& compressed = *deployment.model.compressed;
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention attention;
  attention.decode = queries.phase == AttentionPhase::kDecode;
  attention.batch = queries.sequences, attention.q_len = queries.queries, attention.kv_len = queries.keys;
  attention.always = Figure("Tokens that every query sees uncompressed", min(queries.keys, Ratio(compressed.window)));
  attention.index_heads = indexer.heads, attention.index_dim = indexer.head_dim;
  attention.heads = attention.decode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  attention.kv_lora_rank = deployment.shapes.head_dim, attention.rope_head_dim = 0;
  attention.entry = EntryBytes(deployment), attention.key = EntryKeyBytes(deployment);
  if (attention.decode)
    attention.kv_precision = deployment.formats.kv_cache, attention.kv_element = deployment.formats.sizes.kv_cache;
  // Attention to entries of `ratio` tokens each, at most `top_k` per query; `index_share` 1: an indexer selects them.
  const auto kind = [&](Ratio ratio, Ratio top_k, Ratio index_share) {
    attention.ratio = ratio, attention.top_k = top_k, attention.index_share = index_share;
    return TimeOf(attention, deployment.device).all;
  };
  const KernelTime selecting = kind(compressed.ratio, indexer.top_k, 1),
                   heavy = kind(compressed.heavy_ratio, queries.keys, 0), local = kind(compressed.ratio, 0, 0);
  const SelectingLayers layers = SelectingLayersOf(deployment.model);
  const Ratio local_share = Figure("Share of the layers that see the window alone", 1 - layers.index - layers.heavy);
  const auto mean = [&](auto part) {
    return layers.index * (selecting.*part) + layers.heavy * (heavy.*part) + local_share * (local.*part);
  };
  return {
      Figure("Attention to a compressed history", mean(&KernelTime::time),
             "mean over the layers that select entries, see them all, or see the window alone", kV4Source),
      mean(&KernelTime::compute),
      mean(&KernelTime::memory),
      layers.index > 0 ? selecting.bound : heavy.bound,
      Figure("FLOPs of attention to a compressed history", mean(&KernelTime::flops), "mean over the layers"),
      Figure("Memory traffic of attention to a compressed history", mean(&KernelTime::bytes), "mean over the layers")};
}

}  // namespace slipstick
