// The preset that a struct names by default.
#pragma once

#include <string>

#include "core/base/type.h"

namespace slipstick::internal {

// "" if the struct names none.
inline std::string StandardPreset(const Type& type) {
  for (const FieldRow& row : *type.fields) {
    if (row.facts.key == "preset") return *static_cast<const std::string*>(row.at(const_cast<void*>(type.standard())));
  }
  return "";
}

}  // namespace slipstick::internal
