// Parses the number at the start of a text that a user typed: "1,024", "8*1024", "2^15", "(8 + 8) * 1e3", "26x33".
#pragma once

#include <optional>
#include <string_view>

namespace slipstick {

struct WrittenNumber {
  double value = 0;
  std::size_t used = 0;  // characters of the text that belong to the number
  bool sides = false;    // "26x33": the sides of a rectangle, whose unit counts twice
};

// Reads the longest arithmetic expression at the start of `text`; an operator without a number after it belongs to the
// unit ("0.1 /cm^2"). Commas and underscores only group thousands: "1,5" is not a number. Returns nothing if the text
// does not start with a finite number.
std::optional<WrittenNumber> ReadArithmetic(std::string_view text);

}  // namespace slipstick
