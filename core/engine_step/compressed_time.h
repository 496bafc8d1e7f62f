// Attention to a compressed history (DeepSeek V4) in a pass.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"

namespace slipstick {

// Mean over the layers: scores and selected entries, all entries of heavily compressed layers, the window in all.
// `q_len` queries of each sequence see up to `kv_len` tokens, the figures batch, q_len and kv_len.
KernelTime CompressedAttentionTime(const Deployment& deployment, AttentionPhase phase, double batch, double q_len,
                                   double kv_len, Trace& trace);

// KV cache per token, mean over the layers. Recorded as layer_growth.
BytesPerToken CompressedGrowth(const Deployment& deployment, Trace& trace);
// What a sequence holds in every layer whatever its length: the window, and what entries are made of. Recorded as
// layer_fixed.
Bytes CompressedFixed(const Deployment& deployment, double held_tokens, Trace& trace);

}  // namespace slipstick
