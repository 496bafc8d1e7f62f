// Decides which activations a run recomputes.
#pragma once

#include <functional>
#include <vector>

#include "core/training/memory.h"

namespace slipstick {

// The choice for none, selective and full; `auto` starts as none. Selective recomputes what the framework selects, or
// else the attention core and, with latent attention, norms and the up-projections from the latents.
RecomputeChoice ChoiceFor(const Model& model, const TrainingRun& run, const std::vector<Stage>& stages);

// For `auto`: the least recomputation under which every stage fits: norms and activation functions, then the
// up-projections from MLA's latents, then the attention core, then whole layers; full recomputation if nothing fits.
RecomputeChoice LeastRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget);

// With offload, recomputed activations need no transfer, so more recomputation may be faster. Returns the fastest
// choice that fits. `step_time` must be convex in the share of fully recomputed layers.
RecomputeChoice FastestRecompute(const MemoryTerms& terms, const std::vector<Stage>& stages, Bytes budget,
                                 const std::function<Seconds(const RecomputeChoice&)>& step_time);

// The same decisions, with nodes that record the alternatives, by memory and budget.
RecomputeChoice ExplainLeast(const RecomputeChoice& decided, const MemoryTerms& terms, const std::vector<Stage>& stages,
                             Bytes budget);
RecomputeChoice ExplainFastest(const RecomputeChoice& decided, const MemoryTerms& terms,
                               const std::vector<Stage>& stages, Bytes budget,
                               const std::function<Seconds(const RecomputeChoice&)>& step_time);

}  // namespace slipstick
