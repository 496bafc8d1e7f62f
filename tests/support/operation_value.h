// The value of a recorded operation, from its definition: to recompute formulas and tapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/operation.h"

namespace slipstick::testing {

// Not for inputs, choices and procedures, which have no formula.
inline double ValueOf(Op op, std::span<const double> x) {
  switch (op) {
    case Op::kNegate:
      return -x[0];
    case Op::kAdd:
      return x[0] + x[1];
    case Op::kSubtract:
      return x[0] - x[1];
    case Op::kMultiply:
      return x[0] * x[1];
    case Op::kDivide:
      return x[0] / x[1];
    case Op::kMax:
      return *std::max_element(x.begin(), x.end());
    case Op::kMin:
      return *std::min_element(x.begin(), x.end());
    case Op::kSqrt:
      return std::sqrt(x[0]);
    case Op::kPow:
      return std::pow(x[0], x[1]);
    case Op::kExp:
      return std::exp(x[0]);
    case Op::kLog:
      return std::log(x[0]);
    case Op::kLog2:
      return std::log2(x[0]);
    case Op::kCeil:
      return std::ceil(x[0]);
    case Op::kFloor:
      return std::floor(x[0]);
    case Op::kNorm:
      return NormOf(x[0], x[1], x[2]);
    case Op::kSame:
    case Op::kInput:
    case Op::kChoice:
    case Op::kProcedure:
      break;
  }
  return x[0];
}

}  // namespace slipstick::testing
