// What a search may choose within a framework's code.
#pragma once

#include "core/search/limits.h"
#include "core/training_stage/training_run.h"

namespace slipstick {

// The limits, and for every member that they leave open the framework's. A limit that names a member's values, or has
// none in common with the framework's, leaves the framework: the report of each such mapping warns of it.
SpaceLimits WithinFramework(const FrameworkCapabilities& can, SpaceLimits limits);

// Whether the framework can hide the exchange of a mapping's experts behind the passes of another micro-batch and
// nobody said whether to.
bool MayOverlapExperts(const FrameworkCapabilities& can, const TrainingMapping& mapping);

// Kernels that carry a mapping's tokens to their experts: the mapping's, or those among which the framework leaves the
// choice.
std::vector<std::optional<ExpertDispatch>> DispatchersOf(const FrameworkCapabilities& can,
                                                         const TrainingMapping& mapping);

}  // namespace slipstick
