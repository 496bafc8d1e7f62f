// Attention to blocks of the context that an indexer selects for each KV head (MiniMax-M3).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"

namespace slipstick {

// Mean over layers that select and layers that attend to all tokens as `whole` does. `queries` of
// each of its sequences score.
KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, Ratio queries);

}  // namespace slipstick
