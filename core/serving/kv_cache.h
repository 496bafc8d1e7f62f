// KV cache and recurrent state of a token and of a sequence, and the parts that they consist of.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"

namespace slipstick {

// Per token, all layers of the model, before any split, replication or sliding window.
BytesPerToken KvCachePerToken(const Deployment& deployment, Trace& trace);
// Recurrent state per sequence, all layers, before any split.
Bytes StateOfSequence(const Deployment& deployment, Trace& trace);
// KV cache and recurrent state of one sequence of `held_tokens` on the most loaded device: whole pages; KV heads
// replicated beyond their number; the MLA latent on every rank; sliding-window layers hold at most their window.
Bytes KvCacheOfSequence(const Deployment& deployment, double held_tokens, Trace& trace);

// Layers of the most loaded stage that have a KV cache of their own, and those with a sliding window among them;
// recorded as cached_attention and cached_window.
struct StageLayers {
  double attention = 0, window = 0;
};
StageLayers CachedOnStage(const Deployment& deployment, Trace& trace);
// Layers whose KV cache grows with the context, with what drafts; recorded as cached_layers.
double CachedLayers(const Deployment& deployment, double cached_attention, BytesPerToken layer_kv_cache, Trace& trace);
// Layers with a sliding window, as so many with the others' KV heads; recorded as cached_windows.
double CachedWindows(const Deployment& deployment, double cached_window, Trace& trace);
// KV cache of a layer and token on one device; recorded as layer_kv_cache.
BytesPerToken KvCacheOfLayer(const Deployment& deployment, Trace& trace);
// Tokens in the whole pages that hold `page_tokens`; recorded as paged_tokens.
double PagedTokens(double page_tokens, double block, Trace& trace);
// Recurrent state per sequence on one device; recorded as device_state.
Bytes StatesOfSequence(const Deployment& deployment, Trace& trace);

}  // namespace slipstick
