// Kernels that send tokens to their experts in training.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// Dispatch of tokens to experts: a library's all-to-all, which sends a token once per expert, or dedicated kernels
// (DeepEP), which send it once per node.
enum class ExpertDispatch { kAllToAll, kDedicated };
ENUM_NAMES(ExpertDispatch, {kAllToAll, "all_to_all"}, {kDedicated, "dedicated"});

}  // namespace slipstick
