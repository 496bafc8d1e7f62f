#include "core/base/operation.h"

namespace slipstick {

std::string_view NameOf(Op op) {
  switch (op) {
    case Op::kAdd:
      return " + ";
    case Op::kSubtract:
      return " - ";
    case Op::kMultiply:
      return " * ";
    case Op::kDivide:
      return " / ";
    case Op::kNegate:
      return "-";
    case Op::kMax:
      return "max";
    case Op::kMin:
      return "min";
    case Op::kSqrt:
      return "sqrt";
    case Op::kPow:
      return "pow";
    case Op::kExp:
      return "exp";
    case Op::kLog:
      return "log";
    case Op::kLog2:
      return "log2";
    case Op::kCeil:
      return "ceil";
    case Op::kFloor:
      return "floor";
    case Op::kNorm:
      return "norm";
    default:
      return "";
  }
}

double SlopeOf(Op op, double value, std::span<const double> x, std::size_t by) {
  const auto is_by = [&](auto chosen) { return static_cast<std::size_t>(chosen - x.begin()) == by; };
  switch (op) {
    case Op::kSame:
    case Op::kAdd:
    case Op::kFloor:
      return 1;
    case Op::kCeil:
      return value > 1 ? 1 : 0;  // below the first step there is none
    case Op::kNegate:
      return -1;
    case Op::kSubtract:
      return by == 0 ? 1 : -1;
    case Op::kMultiply:
      return x[1 - by];
    case Op::kDivide:
      return by == 0 ? 1 / x[1] : -value / x[1];
    case Op::kMax:
      return is_by(std::max_element(x.begin(), x.end())) ? 1 : 0;
    case Op::kMin:
      return is_by(std::min_element(x.begin(), x.end())) ? 1 : 0;
    case Op::kSqrt:
      return value > 0 ? 1 / (2 * value) : 0;
    case Op::kPow:
      if (!(x[0] > 0)) return 0;
      return by == 0 ? x[1] * value / x[0] : value * std::log(x[0]);
    case Op::kExp:
      return value;
    case Op::kLog:
      return 1 / x[0];
    case Op::kLog2:
      return 1 / (x[0] * std::log(2.0));
    case Op::kNorm:
      // d/da (a^p + b^p)^(1/p) = (a / norm)^(p - 1)
      return by < 2 && value > 0 && x[by] > 0 ? std::pow(x[by] / value, x[2] - 1) : 0;
    case Op::kInput:
    case Op::kChoice:
    case Op::kProcedure:
      break;
  }
  return 0;
}

}  // namespace slipstick
