// Sparse latent attention (DeepSeek-V3.2): an indexer scores the whole context of each query, the best tokens are
// selected, and attention reads only their latents.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

// On one device. All sequences have the same lengths; the last q_len of the kv_len tokens are queries, each of which
// sees the tokens before it.
struct SparseAttention {
  Ratio batch = 1, q_len = 1, kv_len = 1;
  Ratio top_k = 2048;
  // tokens that are selected together, by their best score, with keys in 16 bit; 0: single tokens, with keys in fp8
  Ratio block = 0;
  // tokens per entry of a compressed history, whose entries are selected instead of tokens; 0: tokens are selected
  Ratio ratio = 0;
  Ratio always = 0;       // with entries: tokens that every query also attends to
  Bytes entry{}, key{};   // with entries: bytes of an entry, and of its key for the indexer
  Ratio index_share = 1;  // share of the layers that score and select; the others reuse a selection
  Ratio index_heads = 64, index_dim = 128;
  Ratio heads = 128;
  Ratio kv_lora_rank = 512, rope_head_dim = 64;
  Precision kv_precision = Precision::kBf16;
  Bytes kv_element{};   // bytes per element of the KV cache, with the node of the choice of format; 0: from the format
  bool decode = false;  // a step that decodes; a kernel with few heads reads the KV cache in its format in prefill too
};

// A token's latent and rotary part in the KV cache, as the kernels for selected tokens read them.
Bytes LatentRowBytes(Ratio kv_lora_rank, Ratio rope_head_dim, Bytes element, const Device& device);

// Bytes of the indexer's key of a token in the KV cache: fp8 with a scale.
Bytes IndexKeyBytes(Ratio index_dim);

// Times of scoring and selection.
struct IndexingTime {
  KernelTime scores, selection;
  Ratio selected = 0;  // attended tokens, over all queries
};
IndexingTime IndexingOf(const SparseAttention& attention, const Device& device);

struct SparseAttentionTime {
  KernelTime scores;     // of all tokens for every query, in fp8
  KernelTime selection;  // of the top_k best tokens
  KernelTime core;       // attention to the selected tokens
  KernelTime all;        // the kernels one after the other, mean over the layers
};
SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device);

}  // namespace slipstick
