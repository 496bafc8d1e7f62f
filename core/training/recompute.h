// Decides the recomputation of a run that asks for `auto`.
#pragma once

#include <functional>

#include "core/training/memory.h"

namespace slipstick {

// The least recomputation under which every stage fits: norms and activation functions, then the attention core, then whole layers;
// full recomputation where nothing fits.
RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity);

// With offload, recomputed activations need no transfer, so more recomputation may be faster: the fastest choice that fits.
// `step_time` must be convex in the share of fully recomputed layers.
RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes capacity,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time);

}  // namespace slipstick
