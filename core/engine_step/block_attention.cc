#include "core/engine_step/block_attention.h"

#include "core/base/figure.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {
namespace {

constexpr std::string_view kMsaSource =
    "MiniMax-M3: huggingface/transformers, models/minimax_m3_vl/modeling_minimax_m3_vl.py";

// The indexer's heads on one device go with the KV heads that they select for.
SparseAttention IndexingFor(const Deployment& deployment, const Attention& whole, Ratio queries) {
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention sparse;
  sparse.batch = whole.batch, sparse.q_len = queries, sparse.kv_len = whole.kv_len;
  sparse.decode = whole.phase == AttentionPhase::kDecode;
  sparse.kv_precision = whole.kv_precision, sparse.kv_element = whole.kv_element;
  sparse.block = indexer.block;
  sparse.index_dim = indexer.head_dim;
  sparse.index_share = IndexShare(deployment.model);
  sparse.index_heads =
      Figure("Heads of the indexer on one device", max(1.0, ceil(Ratio(indexer.heads) / deployment.mapping.tp)),
             "split as the KV heads are");
  sparse.top_k = indexer.top_k;
  if (sparse.decode && deployment.mapping.context_ranks > 1) {
    sparse.top_k = Figure("Tokens that a query attends to on one device",
                          sparse.top_k / deployment.mapping.context_ranks, "context parallelism splits them");
  }
  return sparse;
}

// Attention of a layer that selects: each query to as many tokens as its blocks hold.
KernelTime SelectedBlocks(const Device& device, Attention whole, Ratio top_k) {
  if (whole.phase == AttentionPhase::kDecode) {
    whole.kv_len = Figure("Keys of a sequence in the selected blocks", min(whole.kv_len, top_k));
  } else {
    whole.window = top_k;
  }
  return TimeOf(whole, device);
}

}  // namespace

KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, Ratio queries) {
  const KernelTime dense = TimeOf(whole, deployment.device);
  const SparseAttention sparse = IndexingFor(deployment, whole, queries);
  const Ratio index_share = sparse.index_share;
  const KernelTime core = SelectedBlocks(deployment.device, whole, sparse.top_k);
  const IndexingTime index = IndexingOf(sparse, deployment.device);
  const auto mean = [&](auto part) {
    return index_share * (index.scores.*part + index.selection.*part + core.*part) + (1 - index_share) * (dense.*part);
  };
  return {
      Figure("Attention to selected blocks", mean(&KernelTime::time),
             "scores, selection, attention to the blocks; mean with the layers that attend to all tokens", kMsaSource),
      mean(&KernelTime::compute),
      mean(&KernelTime::memory),
      index.scores.time + index.selection.time > core.time ? index.scores.bound : core.bound,
      Figure("FLOPs of attention to selected blocks",
             index_share * (index.scores.flops + core.flops) + (1 - index_share) * dense.flops, "mean over the layers"),
      Figure("Memory traffic of attention to selected blocks", mean(&KernelTime::bytes), "mean over the layers")};
}

}  // namespace slipstick
