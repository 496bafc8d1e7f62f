// The formula language of trace.h, read from its text: + - * / ( ), numbers, symbols, and the functions of quantity.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/operation.h"

namespace slipstick {

class Formula {
 public:
  // The issue names the place that is not of the language, or the symbol that is not among `names`.
  static Result<Formula> Parse(std::string_view text, std::span<const std::string_view> names);

  // With a value for each of the names.
  [[nodiscard]] double Value(std::span<const double> values) const;

  // The derivatives by each of the values: of max and min those of what they chose, of steps (ceil, floor) those of the
  // line through them.
  [[nodiscard]] std::vector<double> Gradient(std::span<const double> values) const;

 private:
  struct Step {
    enum class Kind { kNumber, kSymbol, kOperation } kind;
    Op op = Op::kSame;
    double number = 0;      // of kNumber
    std::size_t count = 0;  // the symbol's place, or the operands of an operation
  };
  class Reader;

  std::vector<Step> steps_;  // operands before their operation
};

}  // namespace slipstick
