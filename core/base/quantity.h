// Numbers with a dimension that remember how they were computed: a formula with mixed-up units does not compile.
//
// One base unit per dimension: byte, FLOP, token, second, dollar, joule, millimeter, gram of CO2 equivalent. The
// model converts nothing; units.h has the units that people read and write. A Ratio has no dimension; it is what
// remains when all exponents cancel, and a literal becomes one by itself. Counts of things (layers, heads, devices) are
// Count; where a count enters a formula it is converted to double there.
//
// Beside its value a quantity holds the node of the operation that made it (tape.h): null unless an operand has one. A
// copy has the same node. Comparisons and hashes see values only.
//
// A Ratio converts to a double implicitly, and then loses its node.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <type_traits>

#include "core/base/tape.h"

namespace slipstick {

using Count = std::int64_t;

template <class N>
concept Arithmetic = std::is_arithmetic_v<N>;

template <int... Exponents>
class Quantity {
  static_assert(sizeof...(Exponents) == kDimensions);

 public:
  static constexpr Dimension kDimension{Exponents...};
  static constexpr bool kIsRatio = ((Exponents == 0) && ...);

  constexpr Quantity() = default;
  template <Arithmetic N>
  constexpr Quantity(N ratio)  // NOLINT: a literal is a ratio
    requires(kIsRatio)
      : base_(static_cast<double>(ratio)) {}
  // Only for units, JSON, tests and the functions of this file; the model writes 80 * kGB.
  static constexpr Quantity FromBase(double value, const Node* node = nullptr) {
    Quantity quantity;
    quantity.base_ = value;
    quantity.node_ = node;
    return quantity;
  }
  [[nodiscard]] constexpr double base() const { return base_; }
  [[nodiscard]] constexpr const Node* node() const { return node_; }
  [[nodiscard]] constexpr Operand operand() const { return {node_, base_}; }
  constexpr operator double() const  // NOLINT
    requires(kIsRatio)
  {
    return base_;
  }

  constexpr Quantity operator-() const { return FromBase(-base_, internal::Join(Op::kNegate, -base_, operand())); }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Of(Op::kAdd, a.base_ + b.base_, a, b); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Of(Op::kSubtract, a.base_ - b.base_, a, b); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  constexpr Quantity& operator*=(Quantity<(Exponents * 0)...> factor) { return *this = *this * factor; }
  constexpr Quantity& operator/=(Quantity<(Exponents * 0)...> factor) { return *this = *this / factor; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) { return a.base_ <=> b.base_; }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.base_ == b.base_; }

  friend constexpr Quantity max(Quantity a, Quantity b) {
    return Of(Op::kMax, a.base_ < b.base_ ? b.base_ : a.base_, a, b);
  }
  friend constexpr Quantity min(Quantity a, Quantity b) {
    return Of(Op::kMin, b.base_ < a.base_ ? b.base_ : a.base_, a, b);
  }

 private:
  static constexpr Quantity Of(Op op, double value, Quantity a, Quantity b) {
    return FromBase(value, internal::Join(op, value, a.operand(), b.operand()));
  }
  double base_ = 0;  // must be the first member: field tables write through its address
  const Node* node_ = nullptr;
};

template <int... A, int... B>
constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) {
  const double value = a.base() * b.base();
  return Quantity<(A + B)...>::FromBase(value, internal::Join(Op::kMultiply, value, a.operand(), b.operand()));
}
template <int... A, int... B>
constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) {
  const double value = a.base() / b.base();
  return Quantity<(A - B)...>::FromBase(value, internal::Join(Op::kDivide, value, a.operand(), b.operand()));
}

// Operators with a plain number on one side, which becomes a literal.
template <int... A, Arithmetic N>
constexpr auto operator*(Quantity<A...> a, N b) {
  return a * Quantity<(A * 0)...>(b);
}
template <int... A, Arithmetic N>
constexpr auto operator*(N a, Quantity<A...> b) {
  return Quantity<(A * 0)...>(a) * b;
}
template <int... A, Arithmetic N>
constexpr auto operator/(Quantity<A...> a, N b) {
  return a / Quantity<(A * 0)...>(b);
}
template <int... A, Arithmetic N>
constexpr auto operator/(N a, Quantity<A...> b) {
  return Quantity<(A * 0)...>(a) / b;
}

// clang-format off
//                                 B  F  t  s  $  J mm  g
using Ratio = Quantity<            0, 0, 0, 0, 0, 0, 0, 0>;
using Bytes = Quantity<            1, 0, 0, 0, 0, 0, 0, 0>;
using Flops = Quantity<            0, 1, 0, 0, 0, 0, 0, 0>;
using Tokens = Quantity<           0, 0, 1, 0, 0, 0, 0, 0>;
using Seconds = Quantity<          0, 0, 0, 1, 0, 0, 0, 0>;
using Dollars = Quantity<          0, 0, 0, 0, 1, 0, 0, 0>;
using Joules = Quantity<           0, 0, 0, 0, 0, 1, 0, 0>;
using Millimetres = Quantity<      0, 0, 0, 0, 0, 0, 1, 0>;
using Grams = Quantity<            0, 0, 0, 0, 0, 0, 0, 1>;
using SquareMillimetres = Quantity<0, 0, 0, 0, 0, 0, 2, 0>;
using BytesPerSecond = Quantity<   1, 0, 0,-1, 0, 0, 0, 0>;
using FlopsPerSecond = Quantity<   0, 1, 0,-1, 0, 0, 0, 0>;
using TokensPerSecond = Quantity<  0, 0, 1,-1, 0, 0, 0, 0>;
using Hertz = Quantity<            0, 0, 0,-1, 0, 0, 0, 0>;
using Watts = Quantity<            0, 0, 0,-1, 0, 1, 0, 0>;
using BytesPerToken = Quantity<    1, 0,-1, 0, 0, 0, 0, 0>;
using SecondsPerToken = Quantity<  0, 0,-1, 1, 0, 0, 0, 0>;
using DollarsPerToken = Quantity<  0, 0,-1, 0, 1, 0, 0, 0>;
using DollarsPerSecond = Quantity< 0, 0, 0,-1, 1, 0, 0, 0>;
using DollarsPerJoule = Quantity<  0, 0, 0, 0, 1,-1, 0, 0>;
using DollarsPerByte = Quantity<  -1, 0, 0, 0, 1, 0, 0, 0>;
using DollarsPerArea = Quantity<   0, 0, 0, 0, 1, 0,-2, 0>;
using DollarsPerWatt = Quantity<   0, 0, 0, 1, 1,-1, 0, 0>;
using JoulesPerToken = Quantity<   0, 0,-1, 0, 0, 1, 0, 0>;
using JoulesPerByte = Quantity<   -1, 0, 0, 0, 0, 1, 0, 0>;
using JoulesPerFlop = Quantity<    0,-1, 0, 0, 0, 1, 0, 0>;
using PerArea = Quantity<          0, 0, 0, 0, 0, 0,-2, 0>;
using WattsPerArea = Quantity<     0, 0, 0,-1, 0, 1,-2, 0>;
using GramsPerArea = Quantity<     0, 0, 0, 0, 0, 0,-2, 1>;
using GramsPerJoule = Quantity<    0, 0, 0, 0, 0,-1, 0, 1>;
using GramsPerByte = Quantity<    -1, 0, 0, 0, 0, 0, 0, 1>;
using FlopsPerSecondPerArea = Quantity<0, 1, 0,-1, 0, 0,-2, 0>;
using BytesPerSecondPerMillimetre = Quantity<1, 0, 0,-1, 0, 0,-1, 0>;
using BytesPerArea = Quantity<     1, 0, 0, 0, 0, 0,-2, 0>;
using JoulesPerArea = Quantity<    0, 0, 0, 0, 0, 1,-2, 0>;
using DollarsPerBandwidth = Quantity<-1, 0, 0, 1, 1, 0, 0, 0>;
using GramsPerSecond = Quantity<   0, 0, 0,-1, 0, 0, 0, 1>;
// clang-format on

template <Arithmetic N>
constexpr Ratio operator+(Ratio a, N b) {
  return a + Ratio(b);
}
template <Arithmetic N>
constexpr Ratio operator+(N a, Ratio b) {
  return Ratio(a) + b;
}
template <Arithmetic N>
constexpr Ratio operator-(Ratio a, N b) {
  return a - Ratio(b);
}
template <Arithmetic N>
constexpr Ratio operator-(N a, Ratio b) {
  return Ratio(a) - b;
}
template <Arithmetic N>
constexpr auto operator<=>(Ratio a, N b) {
  return a.base() <=> static_cast<double>(b);
}
template <Arithmetic N>
constexpr bool operator==(Ratio a, N b) {
  return a.base() == static_cast<double>(b);
}

// The functions of formulas. Their names are those that explanations write, so that an expression is also
// its text.
constexpr double max(double a, double b) { return a < b ? b : a; }
constexpr double min(double a, double b) { return b < a ? b : a; }
template <int... A, Arithmetic N>
constexpr Quantity<A...> max(Quantity<A...> a, N b) {
  return max(a, Quantity<A...>(b));
}
template <int... A, Arithmetic N>
constexpr Quantity<A...> max(N a, Quantity<A...> b) {
  return max(Quantity<A...>(a), b);
}
template <int... A, Arithmetic N>
constexpr Quantity<A...> min(Quantity<A...> a, N b) {
  return min(a, Quantity<A...>(b));
}
template <int... A, Arithmetic N>
constexpr Quantity<A...> min(N a, Quantity<A...> b) {
  return min(Quantity<A...>(a), b);
}
template <class T, class... More>
constexpr T max(T a, T b, T c, More... more) {
  return max(max(a, b), c, more...);
}
template <class T, class... More>
constexpr T min(T a, T b, T c, More... more) {
  return min(min(a, b), c, more...);
}

using std::ceil;
using std::exp;
using std::floor;
using std::log;
using std::log2;
using std::pow;
using std::sqrt;

namespace internal {
inline Ratio Unary(Op op, double value, Ratio of) { return Ratio::FromBase(value, Join(op, value, of.operand())); }
}  // namespace internal
inline Ratio ceil(Ratio x) { return internal::Unary(Op::kCeil, std::ceil(x.base()), x); }
inline Ratio floor(Ratio x) { return internal::Unary(Op::kFloor, std::floor(x.base()), x); }
inline Ratio exp(Ratio x) { return internal::Unary(Op::kExp, std::exp(x.base()), x); }
inline Ratio log(Ratio x) { return internal::Unary(Op::kLog, std::log(x.base()), x); }
inline Ratio log2(Ratio x) { return internal::Unary(Op::kLog2, std::log2(x.base()), x); }
inline Ratio pow(Ratio x, Ratio y) {
  const double value = std::pow(x.base(), y.base());
  return Ratio::FromBase(value, internal::Join(Op::kPow, value, x.operand(), y.operand()));
}
template <Arithmetic N>
Ratio pow(Ratio x, N y) {
  return pow(x, Ratio(y));
}
template <Arithmetic N>
Ratio pow(N x, Ratio y) {
  return pow(Ratio(x), y);
}
template <int... A>
auto sqrt(Quantity<A...> x) {
  static_assert(((A % 2 == 0) && ...), "the square root of this dimension has fractional exponents");
  const double value = std::sqrt(x.base());
  return Quantity<(A / 2)...>::FromBase(value, internal::Join(Op::kSqrt, value, x.operand()));
}
// Guards ceil and floor against rounding errors of earlier operations: 128 * (108 / 128) holds 108. Formulas of figures
// leave the guard out.
inline constexpr double kRoundingGuard = 1e-9;
inline double WholeBelow(double x) { return std::floor(x + kRoundingGuard); }
inline double WholeAbove(double x) { return std::ceil(x - kRoundingGuard); }
inline Ratio WholeBelow(Ratio x) { return floor(x + kRoundingGuard); }
inline Ratio WholeAbove(Ratio x) { return ceil(x - kRoundingGuard); }
// NormOf (operation.h) of two quantities.
template <int... A>
Quantity<A...> norm(Quantity<A...> a, Quantity<A...> b, Ratio p) {
  const double value = NormOf(a.base(), b.base(), p.base());
  return Quantity<A...>::FromBase(value, internal::Join(Op::kNorm, value, a.operand(), b.operand(), p.operand()));
}

}  // namespace slipstick
