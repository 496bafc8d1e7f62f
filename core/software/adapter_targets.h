// Projections that get low-rank adapters.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// Of attention, or of dense MLPs and shared experts too; never of routed experts.
enum class AdapterTargets { kAttention, kAll };
ENUM_NAMES(AdapterTargets, {kAttention, "attention"}, {kAll, "all"});

}  // namespace slipstick
