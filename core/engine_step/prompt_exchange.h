// Prefill context parallelism: how the ranks that split a prompt bring its keys and values together.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Time per layer beyond the attention of a rank's own queries, `own_attention`, which hides a ring's transfers.
KernelTime PromptExchangeTime(const Deployment& deployment, const PrefillPass& pass, Seconds own_attention);

}  // namespace slipstick
