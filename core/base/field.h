// Field tables: one row per input beside its struct.
//
// Reading, range and unit checks, unknown members, writing, the page's form, the share link and the reference all
// derive from it (schema.h). To add an input: a member with its default, one row in the table, a use. A default that
// switches something off (0, 1, false, nothing) stands in the struct; fitted, measured or published values are data
// with a source, in core/presets/standards.
//
//   memory.h           struct Memory { Bytes capacity = 80 * kGB; };
//                      FIELDS_OF(Memory);
//   memory_fields.cc   constexpr FieldRow kMemoryFields[] = {
//                          Of<&Memory::capacity>("capacity", "What the data sheet prints").In(kGB).AtLeast(0)};
//                      constinit const Fields Schema<Memory>::fields(kMemoryFields);
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace slipstick {

struct FieldRow;  // field_table.h
using Fields = std::span<const FieldRow>;

// Specialized for every struct that is read from a scenario or a preset, after it and in its namespace. It may have,
// besides `fields`,
//   static constexpr std::string_view preset_kind = "device";  // the catalogue that "preset": "id" refers to
//   static constexpr std::string_view standard = "memory";     // core/presets/standards/memory.json: its defaults
template <class T>
struct Schema;
#define FIELDS_OF(T)            \
  template <>                   \
  struct Schema<T> {            \
    static const Fields fields; \
  }

// Specialized for every enum, after it and in its namespace:
//   ENUM_NAMES(Topology, {kRing, "ring"}, {kTorus, "torus"});
template <class E>
struct EnumNames;
#define ENUM_NAMES(E, ...)                                                                      \
  template <>                                                                                   \
  struct EnumNames<E> {                                                                         \
    using enum E;                                                                               \
    static constexpr auto names = std::to_array<std::pair<E, std::string_view>>({__VA_ARGS__}); \
  }

template <class E>
constexpr std::string_view NameOf(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::names) {
    if (candidate == value) return name;
  }
  return "";
}

// A count or the word "max", such as serving.batch.
struct CountOrMax {
  bool max = false;
  Count count = 1;
};

}  // namespace slipstick
