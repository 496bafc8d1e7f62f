// A catalogue entry as a struct, for tests.
#pragma once

#include <string_view>

#include "core/base/schema.h"
#include "core/catalogue/presets.h"

namespace slipstick {

template <class T>
T FromPreset(std::string_view id, Issues& issues) {
  Json json{{"preset", id}};
  T made;
  ExpandPresets<T>(json, "", issues);
  Read(json, "", issues, made);
  return made;
}
template <class T>
T FromPreset(std::string_view id) {
  Issues issues;
  return FromPreset<T>(id, issues);
}

}  // namespace slipstick
