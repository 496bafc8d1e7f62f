// The formula language of trace.h, read from its text: + - * / ( ), numbers, symbols, and the functions of quantity.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/issue.h"

namespace slipstick {

class Formula {
 public:
  // The issue names the place that is not of the language, or the symbol that is not among `names`.
  static Result<Formula> Parse(std::string_view text, std::span<const std::string_view> names);

  // With a value for each of the names.
  [[nodiscard]] double Value(std::span<const double> values) const { return At(values, values.size()).value; }

  // The derivative by the value in a place: of max and min that of what they chose, of steps (ceil, floor) that of the line through them.
  [[nodiscard]] double Derivative(std::span<const double> values, std::size_t place) const { return At(values, place).derivative; }

 private:
  enum class Operation {
    kNumber,
    kSymbol,
    kMinus,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kMax,
    kMin,
    kSqrt,
    kPow,
    kLog2,
    kLog,
    kExp,
    kCeil,
    kFloor,
    kNorm
  };
  struct Step {
    Operation operation;
    double number = 0;      // of kNumber
    std::size_t count = 0;  // the symbol's place, or the arguments of a function
  };
  struct Dual {
    double value = 0, derivative = 0;
  };
  class Reader;
  [[nodiscard]] Dual At(std::span<const double> values, std::size_t place) const;
  static Dual Apply(Operation operation, std::span<const Dual> x);

  std::vector<Step> steps_;  // operands before their operation
};

}  // namespace slipstick
