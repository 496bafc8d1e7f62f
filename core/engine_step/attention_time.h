// Time of one layer's attention, or of the recurrence that replaces it, in a serving engine.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/attention.h"
#include "core/operators/kernel.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {

// `is_local`: the layer has a sliding window.
KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass, bool is_local);
// Mean over the contexts of the pass, by Simpson's rule.
KernelTime MeanDecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local);
// Attention of the decoded tokens in a step that also prefills.
Seconds MixedDecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local);

// Prefill in chunks of tokens; decode reads and writes the whole state. Estimates: neither kernel was measured.
KernelTime PrefillRecurrence(const Deployment& deployment, const PrefillPass& pass);
KernelTime DecodeRecurrence(const Deployment& deployment, const DecodePass& pass);

// Multi-head latent attention of one layer (DeepSeek V3): heads and formats on one device; batch and lengths are left
// at 1.
LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase);

// The kernels of attention to the tokens that an indexer selects (DeepSeek V3.2), one after the other; only some of
// the layers score and select.
SparseAttentionTime SparseTime(const Deployment& deployment, const LatentAttention& queries);

// Attention to blocks of the context that an indexer selects for each KV head (MiniMax-M3): mean over layers that
// select and layers that attend to all tokens as `whole` does. In each sequence of `whole`, the indexer scores
// `queries` query tokens.
KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, Ratio queries);

}  // namespace slipstick
