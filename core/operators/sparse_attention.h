// Sparse latent attention (DeepSeek-V3.2): an indexer scores the whole context of each query, the best tokens are
// selected, and attention reads the latents of those alone.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

// One device. All sequences have the same lengths; the last q_len of the kv_len tokens are queries, each seeing those
// before it.
struct SparseAttention {
  double batch = 1, q_len = 1, kv_len = 1;
  double top_k = 2048;
  // tokens that are selected together, by their best score, with keys in 16 bit; 0: each by itself, in fp8
  double block = 0;
  // tokens per entry of a compressed history, which is selected in place of tokens; 0: tokens are selected
  double ratio = 0;
  double always = 0;       // with entries: tokens that every query attends to besides
  Bytes entry{}, key{};    // with entries: bytes of one and of its key for the indexer, the figures entry and key
  double index_share = 1;  // share of the layers that score and select; the others reuse a selection
  double index_heads = 64, index_dim = 128;
  double heads = 128;
  double kv_lora_rank = 512, rope_head_dim = 64;
  Precision kv_precision = Precision::kBf16;
  bool decode = false;  // reads the KV cache in its format; a prefill has its latents in 16 bit
};

// Bytes of the indexer's key of a token in the KV cache, which the figure index_dim determines: fp8 with a scale.
Bytes IndexKeyBytes(double index_dim, Trace& trace);

// Scores and selection; binds pairs and selected, and aliases of both kernels' times, FLOPs and bytes: scoring,
// selecting, scored_flops,
// ...
struct IndexingTime {
  KernelTime scores, selection;
  double selected = 0;  // tokens that are attended to, of all queries
};
IndexingTime IndexingOf(const SparseAttention& attention, const Device& device, Trace& trace);

struct SparseAttentionTime {
  KernelTime scores;     // of every token for every query, in fp8
  KernelTime selection;  // of the top_k best tokens
  KernelTime core;       // attention to those
  KernelTime all;        // one after the other, mean over the layers
};
// Rests on the symbols batch, q_len, kv_len, top_k, index_share, index_heads, index_dim, heads, kv_lora_rank,
// rope_head_dim, kv_element; binds attending, core_flops and core_bytes, and records time, flops and bytes.
SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device, Trace& trace);

}  // namespace slipstick
