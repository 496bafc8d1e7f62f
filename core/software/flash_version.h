// Versions of FlashAttention.
#pragma once

#include "core/base/field.h"

namespace slipstick {

enum class FlashVersion { kFlash1, kFlash2, kFlash3 };
ENUM_NAMES(FlashVersion, {kFlash1, "flash1"}, {kFlash2, "flash2"}, {kFlash3, "flash3"});

}  // namespace slipstick
