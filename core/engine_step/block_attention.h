// Attention to blocks of the context that an indexer selects for each KV head (MiniMax-M3).
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/operators/attention.h"

namespace slipstick {

// Mean over layers that select and layers that attend to all tokens as `whole` does. `queries` of each of its sequences
// score; rests on batch, kv_len and the symbols of `whole`, and binds time, flops and bytes.
KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, double queries, Trace& trace);

}  // namespace slipstick
