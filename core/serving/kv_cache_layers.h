// The KV cache of one layer and token on one device, and in how many layers and pages a sequence holds it.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"

namespace slipstick {

// Recurrent state per sequence on one device, independent of the sequence length.
Bytes StatesOfSequence(const Deployment& deployment, Trace& trace);
// Layers whose KV cache grows with the context, on the most loaded stage: the model's that attend, MTP modules that draft, and a separate
// draft model, in layers of the same KV cache.
double CachedLayers(const Deployment& deployment, BytesPerToken layer_kv_cache, Trace& trace);
// Layers with a sliding window on the stage, as so many layers with the others' KV heads.
double CachedWindows(const Deployment& deployment, Trace& trace);
Bytes IndexKey(const Deployment& deployment, Trace& trace);
// Elements of the indexer's key beside KV heads, in the KV cache's format; mean over the layers.
double IndexColumns(const Deployment& deployment, Trace& trace);
// KV cache of a layer and token on one rank.
BytesPerToken KvCacheOfLayer(const Deployment& deployment, Trace& trace);
// Tokens in the whole pages that hold `page_tokens`.
double PagedTokens(double page_tokens, double block, Trace& trace);

}  // namespace slipstick
