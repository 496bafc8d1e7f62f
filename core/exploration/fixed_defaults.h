// What stays as it is while one input is the unknown.
#pragma once

#include <string_view>

#include "core/base/json.h"

namespace slipstick {

// Whether other inputs follow this one by themselves, as the batch follows a count of devices.
bool HasFollowers(std::string_view unknown);

// The request with its adjustable defaults fixed at their present values, so that only the unknown changes and what
// follows it. Unchanged if the request is invalid.
Json WithDefaultsFixed(Json request, std::string_view unknown);

// What `edited` has to write too, path -> value, so that it says what `fixed` says: the same change, made without and
// with the defaults fixed. Only what the change moves; all that is fixed where that is not enough.
Json HeldDefaults(Json edited, const Json& fixed);

}  // namespace slipstick
