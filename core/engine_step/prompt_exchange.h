// Prefill context parallelism: how the ranks that split a prompt bring its keys and values together.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Time per layer beyond the attention of a rank's own queries, `own_attention`, the figure `own_attention_is`, which
// hides a ring's transfers. `sequences` prompts of `tokens` tokens, each behind `cached` tokens. Recorded as
// prompt_exchange.
KernelTime PromptExchangeTime(const Deployment& deployment, double sequences, double tokens, double cached,
                              Seconds own_attention, std::string_view own_attention_is, Trace& trace);

}  // namespace slipstick
