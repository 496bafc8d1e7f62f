// Attention to a compressed history (DeepSeek V4) in a pass.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"

namespace slipstick {

// Each of `sequences` sequences has `queries` query tokens, which attend to up to `keys` tokens.
struct SequenceQueries {
  AttentionPhase phase = AttentionPhase::kPrefill;
  Ratio sequences = 1, queries = 1, keys = 1;
};

// Mean over the layers. All attend to the window; some also to the entries they select, some to all (heavy) entries.
KernelTime CompressedAttentionTime(const Deployment& deployment, const SequenceQueries& queries);

// KV cache per token, mean over the layers.
BytesPerToken CompressedGrowth(const Deployment& deployment);
// Further KV cache of a sequence, mean over the layers: the window, and tokens not yet compressed to an entry.
Bytes CompressedFixed(const Deployment& deployment, Ratio held_tokens);

}  // namespace slipstick
