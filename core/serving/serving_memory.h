// Memory of one device: weights, cache, activations; what the engine's budget rule leaves; what fits.
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/serving.h"

namespace slipstick {

// Weights of the fullest device, exact shapes: experts over their group, what cannot be split replicated, embedding and
// head in 16 bit unless the file is one mixture.
Bytes WeightsOf(const Deployment& d, Trace& trace);
// Cache of one token in all layers of the model, nothing split, replicated or cut by a window.
BytesPerToken KvCachePerToken(const Deployment& d, Trace& trace);
// States of one sequence in all layers with a recurrence, nothing split.
Bytes StateOfSequence(const Deployment& d, Trace& trace);
// Cache and states of one sequence of `tokens` on the fullest device: whole pages, KV heads replicated beyond their number, the
// latent of MLA on every rank, window layers never more than their window.
Bytes KvCacheOfSequence(const Deployment& d, double tokens);

struct KvCacheBudget {
  Bytes capacity;  // what the device offers
  Bytes weights, activations, workspace;
  Bytes kv_cache;  // what the rule gives to the cache; 0 where the rest leaves nothing
  Bytes host;      // of host memory, where the cache may overflow into it
  [[nodiscard]] Bytes Room() const { return kv_cache + host; }
};
KvCacheBudget KvCacheBudgetOf(const Deployment& d, Trace& trace);

// Sequences of prompt + output that fit at once on one attention group's devices; whole, 0 where none does. The share of
// the output that is reserved is the engine's.
double BatchThatFits(const Deployment& d, const KvCacheBudget& budget, double prompt, double output, Trace& trace);
// The longest single sequence that fits, in tokens.
double ContextThatFits(const Deployment& d, const KvCacheBudget& budget, Trace& trace);

}  // namespace slipstick
