// KV cache and recurrent state per token and per sequence, and the number of layers that have them.
#pragma once

#include "core/engine_step/deployment.h"

namespace slipstick {

// Per token, over all layers of the model, before any split, replication or sliding window.
BytesPerToken KvCachePerToken(const Deployment& deployment);
// Recurrent state per sequence, over all layers, before any split.
Bytes StateOfSequence(const Deployment& deployment);
// Recurrent state per sequence, on one device.
Bytes StateOnDevice(const Deployment& deployment);
// KV cache and recurrent state of one sequence of `held_tokens` tokens on the most loaded device, in whole pages. Each
// rank has at least one KV head and the whole MLA latent; sliding-window layers hold at most their window.
Bytes KvCacheOfSequence(const Deployment& deployment, Ratio held_tokens);

// Whether the engine keeps recurrent states in a pool of their own.
bool HasStatePool(const Deployment& deployment);
// What a sequence takes of the KV-cache budget: the same, without its recurrent state if states have a pool.
Bytes BudgetOfSequence(const Deployment& deployment, Ratio held_tokens);

// Layers of the most loaded stage that have their own KV cache, and how many of them have a sliding window.
struct StageLayers {
  Ratio attention = 0, window = 0;
};
StageLayers CachedOnStage(const Deployment& deployment);

// The KV cache of the most loaded stage on one device.
struct StageCache {
  BytesPerToken layer;  // per layer and token
  Ratio layers;         // including drafting modules
  Ratio window;         // of them, layers with a sliding window
  Ratio windows;        // the same, as an equivalent number of layers with the other layers' KV heads
};
StageCache StageCacheOf(const Deployment& deployment);

// Mean output length of the running requests, if all requests have `output` tokens on average: long ones run longer.
Ratio OutputOfRunning(const Deployment& deployment, Ratio output);

// `tokens` rounded up to whole pages.
Ratio PagedTokens(const Deployment& deployment, Ratio tokens);

}  // namespace slipstick
