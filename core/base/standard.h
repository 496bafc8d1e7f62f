// Standard<Cluster>(): a value with only defaults (field.h).
#pragma once

#include "core/base/type.h"

namespace slipstick {

using internal::Standard;

}  // namespace slipstick
