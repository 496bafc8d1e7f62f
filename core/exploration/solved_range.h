// The range of a solved input, parsed from its text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/quantity.h"
#include "core/base/type_path.h"

namespace slipstick {

// lo:hi or lo:hi:step, in base units.
struct SolvedRange {
  double low = 0, high = 0, step = 1;
  bool whole = false;
};

// Empty unless the field is numeric and lo is below hi. `version` of the request: determines the unit of bare numbers.
std::optional<SolvedRange> ParseSpan(std::string_view text, const FieldRow& field, Count version);

// A value of the input, in the unit of its field.
std::string ShownIn(const FieldRow& field, double value);

}  // namespace slipstick
