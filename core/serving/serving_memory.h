// Memory of one device: weights, KV cache, activations; the engine's KV-cache budget; the batch and context that fit.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/serving/kv_cache.h"

namespace slipstick {

// Weights of the most loaded device, from exact shapes: what tensor parallelism cannot split is replicated. Embedding
// and head are in 16 bit, except in llama.cpp's mixtures.
Bytes WeightsOf(const Deployment& deployment);
// Activations of the largest step that the engine reserves memory for, including its sampler.
Bytes ActivationsOf(const Deployment& deployment);
// Memory of the engine's process besides the model: context, libraries, communication.
Bytes WorkspaceOf(const Deployment& deployment);
// Memory that the engine leaves free for activations and graphs, if no share of the memory is stated.
Bytes HeadroomOf(const Deployment& deployment);
// Bytes per device of the prefixes that an attention group keeps beside those of its running requests.
struct KeptPrefixes {
  Bytes device, host, ssd;
};
KeptPrefixes KeptPrefixesOf(const Deployment& deployment);
// Prefixes of the sessions that wait, per running request.
KeptPrefixes IdlePrefixesOf(const Deployment& deployment);

struct KvCacheBudget {
  Bytes capacity;  // usable memory of the device
  Bytes weights, activations, workspace;
  Bytes kv_cache;  // left by the engine's rule; 0 if the rest leaves nothing
  Bytes states;    // pool of recurrent states beside it; 0: they are in kv_cache
  Bytes host;      // host memory for KV-cache offload
  Bytes prefixes;  // kept in device memory beside those of running requests; not part of kv_cache
  [[nodiscard]] Bytes Room() const;
};
KvCacheBudget KvCacheBudgetOf(const Deployment& deployment);

// KV cache of a running request on one device: its prompt, and the larger of half its output (the mean while it runs)
// and the output that the engine reserves room for. Admission, reported memory and the decode context follow this rule.
Bytes KvCacheOfRequest(const Deployment& deployment, Ratio prompt, Ratio output);
// Sequences that fit at once on the devices of one attention group; 0 if a single one does not fit to its end.
Ratio BatchThatFits(const Deployment& deployment, const KvCacheBudget& budget, Ratio prompt, Ratio output);
// What a request takes of the KV-cache budget on one device. mean: while it runs, plus the prefixes of the sessions
// that wait for it; at_end: its own when complete.
struct HeldByRequest {
  Bytes mean, at_end;
};
HeldByRequest HeldByRequestOf(const Deployment& deployment, Ratio prompt, Ratio output);
// Sequences of an attention group that fit if each holds this much.
Ratio SequencesThatFit(const Deployment& deployment, const KvCacheBudget& budget, const HeldByRequest& held);
// Sequences that an attention group runs at most, whatever their KV cache: the engine's or load's limit, and those
// whose recurrent states fit in a pool of their own.
Ratio SequenceLimit(const Deployment& deployment, const KvCacheBudget& budget);
// Sequences that an attention group runs at once if no flag says how many; 0: the engine states none.
Tally DefaultSequences(const Deployment& deployment);
// With sessions, per device: their shared system prompt; the room beside it; the unshared part of a running request,
// mean over the turns.
struct SessionMemory {
  Bytes system, room, own;
};
SessionMemory SessionMemoryOf(const Deployment& deployment, const KvCacheBudget& budget);
// Longest single sequence that fits, in tokens.
Ratio ContextThatFits(const Deployment& deployment, const KvCacheBudget& budget);

}  // namespace slipstick
