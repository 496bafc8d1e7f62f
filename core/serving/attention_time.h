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

}  // namespace slipstick
