// KV cache and recurrent state of a token and of a sequence, and the layers that have them.
#pragma once

#include "core/engine_step/deployment.h"

namespace slipstick {

// Per token, all layers of the model, before any split, replication or sliding window.
BytesPerToken KvCachePerToken(const Deployment& deployment);
// Recurrent state per sequence, all layers, before any split.
Bytes StateOfSequence(const Deployment& deployment);
// The same on one device.
Bytes StateOnDevice(const Deployment& deployment);
// KV cache and recurrent state of one sequence of `held_tokens` on the most loaded device: whole pages; KV heads
// replicated beyond their number; the MLA latent on every rank; sliding-window layers hold at most their window.
Bytes KvCacheOfSequence(const Deployment& deployment, Ratio held_tokens);

// Layers of the most loaded stage that have a KV cache of their own, and those with a sliding window among them.
struct StageLayers {
  Ratio attention = 0, window = 0;
};
StageLayers CachedOnStage(const Deployment& deployment);

// The KV cache of the most loaded stage on one device.
struct StageCache {
  BytesPerToken layer;  // of a layer and token
  Ratio layers;         // with what drafts
  Ratio window;         // of them with a sliding window
  Ratio windows;        // those, as so many layers with the others' KV heads
};
StageCache StageCacheOf(const Deployment& deployment);

// Tokens in the whole pages that hold so many.
Ratio PagedTokens(const Deployment& deployment, Ratio tokens);

}  // namespace slipstick
