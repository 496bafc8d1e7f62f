// Decides what a run recomputes.
#pragma once

#include <functional>
#include <vector>

#include "core/training/memory.h"

namespace slipstick {

// For none, selective and full. auto starts as none.
// Selective: what the framework selects; else the attention core and, of latent attention, norms and the projections up
// from the latents.
RecomputeChoice ChoiceFor(const Model& model, const TrainingRun& run, const std::vector<Stage>& stages);

// For `auto`: the least recomputation under which every stage fits: norms and activation functions, then the
// projections up from MLA's latents, then the attention core, then whole layers; full recomputation where nothing fits.
RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget);

// With offload, recomputed activations need no transfer, so more recomputation may be faster: the fastest choice that
// fits. `step_time` must be convex in the share of fully recomputed layers.
RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time);

// Such a decision with nodes that say what it was made among, by memory and budget.
RecomputeChoice ExplainLeast(const RecomputeChoice& decided, const MemoryTerms& terms, const std::vector<Stage>& stages,
                             Bytes budget);
RecomputeChoice ExplainFastest(const RecomputeChoice& decided, const MemoryTerms& terms,
                               const std::vector<Stage>& stages, Bytes budget,
                               const std::function<Seconds(const RecomputeChoice&)>& step_time);

}  // namespace slipstick
