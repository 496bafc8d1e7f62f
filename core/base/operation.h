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
  kSame,  // another figure under a title of its own
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
  kChoice,     // the value of one of its operands, by comparing them
  kProcedure,  // found step by step from its operands, by a simulation or a search
};

// As formulas write it: the sign with the blanks around it, or the name of a function. "" of those without a formula.
std::string_view NameOf(Op op);

// Of its operands; none of inputs, choices and procedures, which no formula gives.
double ValueOf(Op op, std::span<const double> x);

// The derivative by the operand in a place, at operands where the operation has this value: of max and min that of what
// they chose, of steps (ceil, floor) that of the line through them. The power of a norm is a constant.
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
