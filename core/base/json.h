// The one include of the JSON library, and reading text into it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/issue.h"

namespace slipstick {

using Json = nlohmann::ordered_json;

// Reads one JSON value. Faults (syntax, numbers out of range, invalid UTF-8, a member given twice, more than 4 MB or
// 64 levels) are issues with the path reached and what was found there.
Result<Json> ParseJson(std::string_view text);

// Compact text; a byte that is no UTF-8 becomes U+FFFD.
std::string JsonText(const Json& json);

// `over` laid over `under`: objects member by member, arrays place by place, anything else replaces.
void MergeJson(Json& under, const Json& over);

// Sets the value at a dotted path ("cluster.networks.1.bandwidth"), making objects, and arrays padded with {}, on the way.
void SetPath(Json& json, std::string_view path, Json value);

}  // namespace slipstick
