// Standard<Cluster>(): a value of which nothing is stated (field.h).
#pragma once

#include "core/base/type.h"

namespace slipstick {

using internal::Standard;

}  // namespace slipstick
