// Reads a number: whether it is accepted, the message if not, and the likely meanings of a wrong text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/fix.h"
#include "core/base/json.h"
#include "core/base/schema.h"

namespace slipstick::internal {

inline constexpr std::size_t kMaxText = 200;

// Path of a value; its text is built only for an issue.
struct Location {
  const Location* parent;
  std::string_view member;
  std::size_t index = 0;  // in a list, where member is empty

  [[nodiscard]] std::string Text() const {
    if (parent == nullptr) return std::string(member);
    return JoinPath(parent->Text(), member.data() == nullptr ? std::to_string(index) : std::string(member));
  }
};

// Leaves out a member that has a default. List entries cannot be left out: later entries would move up.
Fixes WithoutIt(const FieldFacts& facts, const Location& location);

// A numeric field at its path.
struct NumberField {
  const FieldFacts& facts;
  const Dimension& dimension;
  bool whole;
  const Location& location;

  // The number, in range or not; nothing if the value is not a number of this dimension.
  [[nodiscard]] std::optional<double> NumberOf(const Json& json) const;
  [[nodiscard]] std::optional<double> Accepted(const Json& json) const;
};

// Why a value is not accepted.
std::string MessageOf(const Json& json, const NumberField& field);
// The nearest accepted values; if none, leave the member out.
Fixes FixesOf(const Json& json, const NumberField& field);

}  // namespace slipstick::internal
