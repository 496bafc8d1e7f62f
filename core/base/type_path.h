// The type that field tables give a path: "cluster.networks.1.bandwidth".
#pragma once

#include <string_view>

#include "core/base/type.h"

namespace slipstick {

namespace internal {
// The type at the path below `type`, whether or not a value is there; null if there is no such field.
const Type* TypeAt(const Type& type, std::string_view path);
}  // namespace internal

// The catalogue whose entries a text at this path names; "" if none.
template <class T>
std::string_view PresetKindAt(std::string_view path) {
  const internal::Type* type = internal::TypeAt(internal::kType<T>, path);
  return type != nullptr ? type->preset_kind : std::string_view();
}

}  // namespace slipstick
