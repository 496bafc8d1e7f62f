#include "core/engine_step/block_attention.h"

#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

constexpr std::string_view kMsaSource =
    "MiniMax-M3: huggingface/transformers, models/minimax_m3_vl/modeling_minimax_m3_vl.py";

// The indexer's heads on one device go with the KV heads that they select for.
SparseAttention IndexingFor(const Deployment& deployment, const Attention& whole, double queries, Trace& trace) {
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention sparse;
  sparse.batch = whole.batch, sparse.q_len = queries, sparse.kv_len = whole.kv_len;
  sparse.decode = whole.phase == AttentionPhase::kDecode;
  sparse.kv_precision = whole.kv_precision;
  sparse.block = static_cast<double>(indexer.block);
  sparse.index_dim = static_cast<double>(indexer.head_dim);
  sparse.index_share = IndexShare(deployment.model, trace);
  const double all_index_heads = static_cast<double>(indexer.heads), tp = deployment.mapping.tp,
               chosen_tokens = static_cast<double>(indexer.top_k),
               context_ranks = sparse.decode ? deployment.mapping.context_ranks : Ratio(1);
  trace.Input("block", sparse.block, "model.indexer.block");
  trace.Input("index_dim", sparse.index_dim, "model.indexer.head_dim");
  trace.Input("all_index_heads", all_index_heads, "model.indexer.heads");
  trace.Input("chosen_tokens", chosen_tokens, "model.indexer.top_k");
  FIGURE(trace, index_heads, max(1.0, ceil(all_index_heads / tp)),
         (Note{"Heads of the indexer on one device", "split as the KV heads are"}), all_index_heads, tp);
  sparse.index_heads = index_heads;
  if (context_ranks <= 1) {
    trace.Alias("top_k", chosen_tokens, "chosen_tokens");
    sparse.top_k = chosen_tokens;
    return sparse;
  }
  FIGURE(trace, top_k, chosen_tokens / context_ranks,
         (Note{"Tokens that a query attends to on one device", "context parallelism splits them"}), chosen_tokens,
         context_ranks);
  sparse.top_k = top_k;
  return sparse;
}

// Attention of a layer that selects: each query to as many tokens as its blocks hold.
KernelTime SelectedBlocks(const Deployment& deployment, const Attention& whole, double top_k, Trace& trace) {
  const Trace::Scope scope(trace, "selected");
  Attention selected = whole;
  if (whole.phase != AttentionPhase::kDecode) {
    trace.Alias("window", top_k, "top_k");
    selected.window = top_k;
    return TimeOf(selected, deployment.device, trace);
  }
  const double context_keys = whole.kv_len;
  trace.Alias("context_keys", context_keys, "kv_len");
  FIGURE(trace, kv_len, min(context_keys, top_k), (Note{"Keys of a sequence in the selected blocks", ""}), context_keys,
         top_k);
  selected.kv_len = kv_len;
  return TimeOf(selected, deployment.device, trace);
}

}  // namespace

KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, double queries, Trace& trace) {
  const auto named = [&trace](const KernelTime& kernel, std::string_view time, std::string_view flops,
                              std::string_view bytes) {
    trace.Alias(time, kernel.time, "time");
    trace.Alias(flops, kernel.flops, "flops");
    trace.Alias(bytes, kernel.bytes, "bytes");
  };
  const KernelTime dense = [&] {
    const Trace::Scope scope(trace, "dense");
    return TimeOf(whole, deployment.device, trace);
  }();
  named(dense, "dense_time", "dense_flops", "dense_bytes");
  const Trace::Scope scope(trace, "blocks");
  const SparseAttention sparse = IndexingFor(deployment, whole, queries, trace);
  const KernelTime core = SelectedBlocks(deployment, whole, sparse.top_k, trace);
  named(core, "attending", "core_flops", "core_bytes");
  trace.Alias("q_len", queries, whole.phase == AttentionPhase::kDecode ? "checked" : "q_len");
  const IndexingTime index = IndexingOf(sparse, deployment.device, trace);
  const Seconds scoring = index.scores.time, selecting = index.selection.time, attending = core.time,
                dense_time = dense.time;
  const Flops scored_flops = index.scores.flops, core_flops = core.flops, dense_flops = dense.flops;
  const Bytes scored_bytes = index.scores.bytes, selection_bytes = index.selection.bytes, core_bytes = core.bytes,
              dense_bytes = dense.bytes;
  const double index_share = sparse.index_share;
  FIGURE(
      trace, time, index_share * (scoring + selecting + attending) + (1 - index_share) * dense_time,
      (Note{"Attention to selected blocks",
            "scores, selection, attention to the blocks; mean with the layers that attend to all tokens", kMsaSource}),
      index_share, scoring, selecting, attending, dense_time);
  FIGURE(trace, flops, index_share * (scored_flops + core_flops) + (1 - index_share) * dense_flops,
         (Note{"FLOPs of attention to selected blocks", "mean over the layers"}), index_share, scored_flops, core_flops,
         dense_flops);
  FIGURE(trace, bytes, index_share * (scored_bytes + selection_bytes + core_bytes) + (1 - index_share) * dense_bytes,
         (Note{"Memory traffic of attention to selected blocks", "mean over the layers"}), index_share, scored_bytes,
         selection_bytes, core_bytes, dense_bytes);
  const auto mean = [&](Seconds KernelTime::* part) {
    return index_share * (index.scores.*part + index.selection.*part + core.*part) + (1 - index_share) * (dense.*part);
  };
  const KernelTime& longest = scoring + selecting > attending ? index.scores : core;
  return {time, mean(&KernelTime::compute), mean(&KernelTime::memory), longest.bound, flops, bytes};
}

}  // namespace slipstick
