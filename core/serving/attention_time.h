// Attention of one layer as a serving engine runs it.
#pragma once

#include "core/base/trace.h"
#include "core/operators/kernel.h"
#include "core/serving/deployment.h"

namespace slipstick {

// Of `sequences` prompts of `tokens` each behind `cached` ones. `window`: tokens that a query sees; 0: all.
KernelTime PrefillAttention(const Deployment& d, double sequences, double tokens, double cached, double window, Trace& trace);
// Of one token (or `checked` ones) a sequence against `context` cached tokens.
KernelTime DecodeAttention(const Deployment& d, double sequences, double context, double checked, double window, Trace& trace);

// The recurrence of a layer in place of attention: of prompts of `tokens`, in chunks; of `checked` tokens a sequence, which read and
// write the whole state. Estimates: no kernel of these was measured here.
KernelTime PrefillRecurrence(const Deployment& d, double sequences, double tokens, Trace& trace);
KernelTime DecodeRecurrence(const Deployment& d, double sequences, double checked, Trace& trace);

// Mean of decode attention over contexts from context - grown/2 to context + grown/2: by Simpson's rule.
KernelTime MeanDecodeAttention(const Deployment& d, double sequences, double context, double grown, double checked, double window,
                               Trace& trace);

}  // namespace slipstick
