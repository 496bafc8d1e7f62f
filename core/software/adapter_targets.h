// Projections that get low-rank adapters.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// Projections of attention only, or also of dense MLPs and shared experts; never of routed experts.
enum class AdapterTargets { kAttention, kAll };
ENUM_NAMES(AdapterTargets, {kAttention, "attention"}, {kAll, "all"});

}  // namespace slipstick
