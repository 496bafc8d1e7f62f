// All numbers of a JSON value.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// Calls `visit(path, number)` for every number at and below `path`.
template <class Visit>
void VisitNumbers(const Json& json, const std::string& path, const Visit& visit) {
  if (json.is_object()) {
    for (const auto& [key, member] : json.items()) VisitNumbers(member, JoinPath(path, key), visit);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) VisitNumbers(json[i], JoinPath(path, std::to_string(i)), visit);
  } else if (json.is_number()) {
    visit(path, json);
  }
}

}  // namespace slipstick
