// Restricts a search to what a framework's code supports.
#pragma once

#include "core/search/limits.h"
#include "core/training_stage/training_run.h"

namespace slipstick {

// The limits; members without a limit get the framework's. A limit that names a member's values, or has none in common
// with the framework's, overrides the framework, and the report of each such mapping warns about it.
SpaceLimits WithinFramework(const FrameworkCapabilities& can, SpaceLimits limits);

// Whether the framework can hide a mapping's expert exchange behind the passes of another micro-batch while the request
// leaves this open.
bool MayOverlapExperts(const FrameworkCapabilities& can, const TrainingMapping& mapping);

// Kernels that exchange a mapping's tokens with their experts: the mapping's own, or all that the framework offers if
// the mapping states none.
std::vector<std::optional<ExpertDispatch>> DispatchersOf(const FrameworkCapabilities& can,
                                                         const TrainingMapping& mapping);

}  // namespace slipstick
