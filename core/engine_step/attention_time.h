// Attention, or the recurrence in its place, of one layer as a serving engine runs it.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"
#include "core/operators/kernel.h"

namespace slipstick {

// `is_local`: of a layer with a sliding window.
KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass, bool is_local);
// Mean over the contexts of the pass, by Simpson's rule.
KernelTime MeanDecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local);

// Prefill in chunks of tokens; decode reads and writes the whole state. Estimates: no such kernel was measured.
KernelTime PrefillRecurrence(const Deployment& deployment, const PrefillPass& pass);
KernelTime DecodeRecurrence(const Deployment& deployment, const DecodePass& pass);

}  // namespace slipstick
