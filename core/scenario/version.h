// The version of a scenario: the default scenario that it is merged into, and how its texts are read (request.h).
#pragma once

#include "core/base/quantity.h"

namespace slipstick {

inline constexpr Count kNewestVersion = 3;

}  // namespace slipstick
