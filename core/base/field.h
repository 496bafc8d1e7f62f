// The one description of each input: a table of fields beside the struct.
//
// Reading, range and unit checks, unknown members, writing, the page's form, the share link and the reference are all
// derived from it (schema.h). Defaults stand in the struct, once. To add an input: a member with its default, one line
// in the table, and a use.
//
//   struct Memory { Bytes capacity = 80 * kGB; };
//   template <> struct Schema<Memory> {
//     static constexpr auto fields = std::tuple{
//         Of("capacity", &Memory::capacity, "What the data sheet prints").In(kGB).AtLeast(0)};
//   };
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace slipstick {

// Specialised for every struct that is read from a scenario or a preset. Besides `fields` it may have
//   static constexpr std::string_view preset_kind = "device";   // the catalogue that "preset": "id" refers to
template <class T>
struct Schema;

// Specialised for every enum: { {value, "name"}, … }.
template <class E>
struct EnumNames;

template <class E>
constexpr std::string_view NameOf(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::names) {
    if (candidate == value) return name;
  }
  return "";
}

struct Range {
  double low = -std::numeric_limits<double>::infinity();  // in base units
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;  // low itself is out
};

struct FieldFacts {
  std::string_view key;
  std::string_view help;
  std::string_view unit = "";  // the display unit; a bare number in JSON is in base units whatever this says
  double unit_factor = 1;
  Range range{};
  bool is_required = false;  // must be written by the scenario or its preset
  bool is_length = false;    // a length in tokens: "8k" is 8,192
  bool is_derived = false;   // filled in by the core where it is not written (dp, head_dim)
  bool is_advanced = false;  // the form shows it only on request
};

template <class Owner, class Member>
struct Field : FieldFacts {
  Member Owner::*member = nullptr;

  template <class Q>
  constexpr Field In(Unit<Q> display) const {
    Field copy = *this;
    copy.unit = display.text;
    copy.unit_factor = display.factor;
    return copy;
  }
  constexpr Field AtLeast(double low) const {
    return With([&](Field& f) { f.range.low = low * f.unit_factor; });
  }
  constexpr Field Above(double low) const {
    return With([&](Field& f) { f.range.low = low * f.unit_factor, f.range.open_low = true; });
  }
  constexpr Field AtMost(double high) const {
    return With([&](Field& f) { f.range.high = high * f.unit_factor; });
  }
  constexpr Field Between(double low, double high) const { return AtLeast(low).AtMost(high); }
  constexpr Field Required() const {
    return With([](Field& f) { f.is_required = true; });
  }
  constexpr Field Length() const {
    return With([](Field& f) { f.is_length = true; });
  }
  constexpr Field Derived() const {
    return With([](Field& f) { f.is_derived = true; });
  }
  constexpr Field Advanced() const {
    return With([](Field& f) { f.is_advanced = true; });
  }

 private:
  template <class Change>
  constexpr Field With(Change change) const {
    Field copy = *this;
    change(copy);
    return copy;
  }
};

// A field of a struct. The range, if any, is stated in the display unit, so .In(…) comes before it.
template <class Owner, class Member>
constexpr Field<Owner, Member> Of(std::string_view key, Member Owner::*member, std::string_view help) {
  Field<Owner, Member> field;
  field.key = key;
  field.help = help;
  field.member = member;
  return field;
}

// A count that may also be given as a word, such as serving.batch = "max".
struct CountOrMax {
  bool max = false;
  Count count = 1;
};

}  // namespace slipstick
