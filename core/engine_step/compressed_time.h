// Attention to a compressed history (DeepSeek V4) in a pass.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"

namespace slipstick {

// `queries` of each sequence that see up to `keys` tokens.
struct SequenceQueries {
  AttentionPhase phase = AttentionPhase::kPrefill;
  Ratio sequences = 1, queries = 1, keys = 1;
};

// Mean over the layers: scores and selected entries, all entries of heavily compressed layers, the window in all.
KernelTime CompressedAttentionTime(const Deployment& deployment, const SequenceQueries& queries);

// KV cache per token, mean over the layers.
BytesPerToken CompressedGrowth(const Deployment& deployment);
// What a sequence holds in every layer whatever its length: the window, and what entries are made of.
Bytes CompressedFixed(const Deployment& deployment, Ratio held_tokens);

}  // namespace slipstick
