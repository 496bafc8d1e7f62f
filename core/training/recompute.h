// What a run that leaves it open computes again.
#pragma once

#include <functional>

#include "core/training/memory.h"

namespace slipstick {

// The least recomputation under which every stage fits: norms and activation functions, then the attention core, then one
// layer of each stage after the other; full where nothing fits.
RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity);

// Where activations go to the host, what is computed again need not travel: of all that fits, the fastest, which more memory
// never makes slower. `step_time` is convex in the share of the layers that are repeated whole.
RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time);

}  // namespace slipstick
