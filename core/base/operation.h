// The operations that quantities record (tape.h): their names, values and derivatives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace slipstick {

enum class Op : std::uint8_t {
  kInput,
  kSame,  // another figure's value under a second title
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMax,
  kMin,
  kSqrt,
  kPow,
  kExp,
  kLog,
  kLog2,
  kCeil,
  kFloor,
  kNorm,
  kChoice,     // the operand that a comparison chose
  kProcedure,  // found step by step from its operands, by a simulation or a search
};

// The operation in a formula: its sign with blanks around it, or a function's name; "" if it has no formula.
std::string_view NameOf(Op op);

// The derivative by operand `by`, given the operation's value. For max and min, of the chosen operand; for steps (ceil,
// floor), of the line through them, 0 below the first. A norm's power is a constant.
double SlopeOf(Op op, double value, std::span<const double> x, std::size_t by);

// (a^p + b^p)^(1/p): two limits that partly overlap; p = 1 is the sum, p = infinity the maximum.
inline double NormOf(double a, double b, double p) {
  const double large = std::max(a, b);
  if (!(large > 0)) return 0;
  const double small = std::min(a, b) / large;
  return large * (p == 2   ? std::sqrt(1 + small * small)
                  : p == 3 ? std::cbrt(1 + small * small * small)
                           : std::pow(1 + std::pow(small, p), 1 / p));
}

}  // namespace slipstick
