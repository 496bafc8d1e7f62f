// Fixes the other inputs while one input is the unknown.
#pragma once

#include <string_view>

#include "core/base/json.h"

namespace slipstick {

// The request with its adjustable defaults fixed at their current values, so that only the unknown, its followers
// and the degrees of mappings that are chosen automatically change. Unchanged if the request is invalid.
Json WithDefaultsFixed(Json request, std::string_view unknown);

// Further values (path -> value) that `edited` must write to become the same scenario as `fixed`. Both have the same
// change, `edited` without fixed defaults. Only inputs that the change moves; all fixed inputs if those do not suffice.
Json HeldDefaults(Json edited, const Json& fixed);

}  // namespace slipstick
