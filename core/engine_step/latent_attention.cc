#include "core/engine_step/latent_attention.h"

#include "core/operators/named_terms.h"

namespace slipstick {

LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase) {
  LatentAttention mla;
  mla.phase = phase;
  mla.heads = phase == AttentionPhase::kDecode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  mla.kv_lora_rank = static_cast<double>(deployment.model.mla->kv_lora_rank);
  mla.rope_head_dim = static_cast<double>(deployment.model.mla->rope_head_dim);
  mla.nope_head_dim = static_cast<double>(deployment.model.mla->nope_head_dim);
  mla.value_head_dim = static_cast<double>(deployment.model.mla->value_head_dim);
  mla.precision = IsEightBitFloat(deployment.formats.kv_cache) ? deployment.formats.kv_cache : Precision::kBf16;
  mla.kv_precision = deployment.formats.kv_cache;
  mla.library = deployment.engine.kernels.attention;
  return mla;
}

SparseAttentionTime SparseTime(const Deployment& deployment, AttentionPhase phase, double batch, double q_len,
                               double kv_len, Trace& trace) {
  const Trace::Scope scope(trace, "sparse");
  const LatentAttention mla = LatentOf(deployment, phase);
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention attention;
  attention.batch = batch, attention.q_len = q_len, attention.kv_len = kv_len;
  attention.index_heads = static_cast<double>(indexer.heads);
  attention.index_dim = static_cast<double>(indexer.head_dim);
  attention.heads = mla.heads;
  attention.kv_lora_rank = mla.kv_lora_rank, attention.rope_head_dim = mla.rope_head_dim;
  attention.index_share = IndexShare(deployment.model, trace);
  attention.decode = phase == AttentionPhase::kDecode;
  if (attention.decode) attention.kv_precision = mla.kv_precision;
  trace.Input("index_heads", attention.index_heads, "model.indexer.heads");
  trace.Input("index_dim", attention.index_dim, "model.indexer.head_dim");
  const auto chosen_tokens = static_cast<double>(indexer.top_k);
  const double context_ranks = attention.decode ? deployment.mapping.context_ranks : Ratio(1);
  trace.Input("chosen_tokens", chosen_tokens, "model.indexer.top_k");
  if (context_ranks > 1) {
    FIGURE(trace, top_k, chosen_tokens / context_ranks,
           (Note{"Tokens that a query attends to on one device", "context parallelism splits them"}), chosen_tokens,
           context_ranks);
    attention.top_k = top_k;
  } else {
    trace.Alias("top_k", chosen_tokens, "chosen_tokens");
    attention.top_k = chosen_tokens;
  }
  if (!attention.decode)
    trace.Constants("serving.attention", "a prefill has its latents in 16 bit", "kv_element", 2 * kB);
  return TimeOf(attention, deployment.device, trace);
}

KernelTime SparsePrefill(const Deployment& deployment, const LatentAttention& mla, const KernelTime& dense,
                         Trace& trace) {
  const Seconds masked_time = dense.time;
  const Flops masked_flops = dense.flops;
  const Bytes masked_bytes = dense.bytes;
  trace.Alias("masked_time", masked_time, "time");
  trace.Alias("masked_flops", masked_flops, "flops");
  trace.Alias("masked_bytes", masked_bytes, "bytes");
  const SparseAttentionTime sparse =
      SparseTime(deployment, AttentionPhase::kPrefill, mla.batch, mla.q_len, mla.kv_len, trace);
  const Seconds sparse_time = sparse.all.time, attending = sparse.core.time;
  const Flops sparse_flops = sparse.all.flops, core_flops = sparse.core.flops;
  const Bytes sparse_bytes = sparse.all.bytes, core_bytes = sparse.core.bytes;
  trace.Alias("sparse_time", sparse_time, "time");
  trace.Alias("sparse_flops", sparse_flops, "flops");
  trace.Alias("sparse_bytes", sparse_bytes, "bytes");
  FIGURE(trace, time, sparse_time - attending + min(attending, masked_time),
         (Note{"Sparse attention of a prompt",
               "to the latents of the selected tokens, or to all tokens with a mask, whichever is faster",
               "DeepSeek-V3.2: short prompts in a masked MHA mode"}),
         sparse_time, attending, masked_time);
  KernelTime kernel = sparse.all;
  kernel.time = time;
  if (!(masked_time < attending)) {
    trace.Alias("flops", sparse_flops, "sparse_flops");
    trace.Alias("bytes", sparse_bytes, "sparse_bytes");
    return kernel;
  }
  FIGURE(trace, flops, sparse_flops - core_flops + masked_flops, (Note{"FLOPs of scores and masked attention", ""}),
         sparse_flops, core_flops, masked_flops);
  FIGURE(trace, bytes, sparse_bytes - core_bytes + masked_bytes,
         (Note{"Memory traffic of scores, selection and masked attention", ""}), sparse_bytes, core_bytes,
         masked_bytes);
  kernel.flops = flops, kernel.bytes = bytes;
  kernel.compute = sparse.all.compute - sparse.core.compute + dense.compute;
  kernel.memory = sparse.all.memory - sparse.core.memory + dense.memory;
  if (2 * masked_time > time) kernel.bound = dense.bound;
  return kernel;
}

}  // namespace slipstick
