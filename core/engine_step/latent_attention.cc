#include "core/engine_step/latent_attention.h"

#include "core/base/figure.h"

namespace slipstick {

LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase) {
  const Mla& shape = *deployment.model.mla;
  LatentAttention mla;
  mla.phase = phase;
  mla.heads = phase == AttentionPhase::kDecode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  mla.kv_lora_rank = shape.kv_lora_rank;
  mla.rope_head_dim = shape.rope_head_dim;
  mla.nope_head_dim = shape.nope_head_dim;
  mla.value_head_dim = shape.value_head_dim;
  mla.precision = IsEightBitFloat(deployment.formats.kv_cache) ? deployment.formats.kv_cache : Precision::kBf16;
  mla.kv_precision = deployment.formats.kv_cache;
  mla.kv_element = deployment.formats.sizes.kv_cache;
  mla.library = deployment.engine.kernels.attention;
  return mla;
}

SparseAttentionTime SparseTime(const Deployment& deployment, const LatentAttention& queries) {
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention attention;
  attention.batch = queries.batch, attention.q_len = queries.q_len, attention.kv_len = queries.kv_len;
  attention.top_k = indexer.top_k;
  attention.index_share = IndexShare(deployment.model);
  attention.index_heads = indexer.heads, attention.index_dim = indexer.head_dim;
  attention.heads = queries.heads;
  attention.kv_lora_rank = queries.kv_lora_rank, attention.rope_head_dim = queries.rope_head_dim;
  attention.decode = queries.phase == AttentionPhase::kDecode;
  if (attention.decode) {
    attention.kv_precision = queries.kv_precision, attention.kv_element = queries.kv_element;
    if (deployment.mapping.context_ranks > 1) {
      attention.top_k = Figure("Tokens that a query attends to on one device",
                               attention.top_k / deployment.mapping.context_ranks, "context parallelism splits them");
    }
  }
  return TimeOf(attention, deployment.device);
}

KernelTime SparsePrefill(const Deployment& deployment, const LatentAttention& queries, const KernelTime& dense) {
  const auto [scores, selection, core, all] = SparseTime(deployment, queries);
  KernelTime kernel = all;
  kernel.time = Figure("Sparse attention of a prompt", all.time - core.time + min(core.time, dense.time),
                       "to the latents of the selected tokens, or to all tokens with a mask, whichever is faster",
                       "DeepSeek-V3.2: short prompts in a masked MHA mode");
  if (!(dense.time < core.time)) return kernel;
  kernel.flops = Figure("FLOPs of scores and masked attention", all.flops - core.flops + dense.flops);
  kernel.bytes =
      Figure("Memory traffic of scores, selection and masked attention", all.bytes - core.bytes + dense.bytes);
  kernel.compute = all.compute - core.compute + dense.compute;
  kernel.memory = all.memory - core.memory + dense.memory;
  if (2 * dense.time > kernel.time) kernel.bound = dense.bound;
  return kernel;
}

}  // namespace slipstick
