// The number at the head of what a person typed: "1,024", "8*1024", "2^15", "(8 + 8) * 1e3", "26x33".
#pragma once

#include <optional>
#include <string_view>

namespace slipstick {

struct Arithmetic {
  double value = 0;
  std::size_t used = 0;  // characters of the text that belong to the number
  bool sides = false;    // "26x33": the sides of a rectangle, whose unit counts twice
};

// Reads as much of `text` as is a number or a sum of numbers; an operator that no number follows is left for the unit ("0.1 /cm^2").
// Commas and low lines group thousands and nothing else: "1,5" is no number. Nothing if the text does not begin with a finite number.
std::optional<Arithmetic> ReadArithmetic(std::string_view text);

}  // namespace slipstick
