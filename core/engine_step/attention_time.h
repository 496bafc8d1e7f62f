// Attention, or the recurrence in its place, of one layer as a serving engine runs it.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/operators/kernel.h"

namespace slipstick {

// `sequences` prompts of `tokens` computed tokens, each behind `cached` tokens. `window`: KV length limit per query; 0:
// none.
KernelTime PrefillAttention(const Deployment& deployment, double sequences, double tokens, double cached, double window,
                            Trace& trace);
// `checked` query tokens per sequence (1, or more when drafts are verified) over a KV length of `context`.
KernelTime DecodeAttention(const Deployment& deployment, double sequences, double context, double checked,
                           double window, Trace& trace);

// Prefill in chunks of tokens; decode reads and writes the whole state. Estimates: no such kernel was measured.
KernelTime PrefillRecurrence(const Deployment& deployment, double sequences, double tokens, Trace& trace);
KernelTime DecodeRecurrence(const Deployment& deployment, double sequences, double checked, Trace& trace);

// Mean of DecodeAttention over contexts from context - grown/2 to context + grown/2, by Simpson's rule.
KernelTime MeanDecodeAttention(const Deployment& deployment, double sequences, double context, double grown,
                               double checked, double window, Trace& trace);

}  // namespace slipstick
