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

}  // namespace slipstick
