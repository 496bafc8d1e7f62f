// Numbers with a dimension: a formula with mixed-up units does not compile.
//
// One base unit per dimension: byte, FLOP, token, second, dollar, joule, millimetre, gram of CO2 equivalent. The
// model converts nothing; units.h has the units that people read and write. When all exponents cancel the result is a
// bare double: a bare double is a ratio, and anything with a unit is a Quantity. Counts of things (layers, heads,
// devices) are Count; where a count enters a formula it is converted to double there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <type_traits>

namespace slipstick {

using Count = std::int64_t;

inline constexpr int kDimensions = 8;
using Dimension = std::array<int, kDimensions>;  // exponents, in the order of the base units above

template <int... Exponents>
class Quantity;

namespace internal {

template <int... Exponents>
struct Made {
  using type = std::conditional_t<((Exponents == 0) && ...), double, Quantity<Exponents...>>;
  static constexpr type Of(double base) {
    if constexpr (((Exponents == 0) && ...)) {
      return base;
    } else {
      return Quantity<Exponents...>::FromBase(base);
    }
  }
};

}  // namespace internal

template <int... Exponents>
class Quantity {
  static_assert(sizeof...(Exponents) == kDimensions);

 public:
  static constexpr Dimension kDimension{Exponents...};

  constexpr Quantity() = default;
  // Only for units, JSON and tests; the model writes 80 * kGB.
  static constexpr Quantity FromBase(double value) { return Quantity(value); }
  [[nodiscard]] constexpr double base() const { return base_; }

  constexpr Quantity operator-() const { return Quantity(-base_); }
  constexpr Quantity& operator+=(Quantity other) { return base_ += other.base_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return base_ -= other.base_, *this; }
  constexpr Quantity& operator*=(double factor) { return base_ *= factor, *this; }
  constexpr Quantity& operator/=(double factor) { return base_ /= factor, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.base_ + b.base_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.base_ - b.base_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.base_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(factor * a.base_); }
  friend constexpr Quantity operator/(Quantity a, double factor) { return Quantity(a.base_ / factor); }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  explicit constexpr Quantity(double base) : base_(base) {}
  double base_ = 0;
};

template <int... A, int... B>
constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) {
  return internal::Made<(A + B)...>::Of(a.base() * b.base());
}
template <int... A, int... B>
constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) {
  return internal::Made<(A - B)...>::Of(a.base() / b.base());
}
template <int... A>
constexpr auto operator/(double a, Quantity<A...> b) {
  return internal::Made<(-A)...>::Of(a / b.base());
}

// The functions of formulas, for quantities and ratios. Names are those of the formula language in trace.h, so that an
// expression is also its text.
template <int... A>
constexpr Quantity<A...> max(Quantity<A...> a, Quantity<A...> b) {
  return a < b ? b : a;
}
template <int... A>
constexpr Quantity<A...> min(Quantity<A...> a, Quantity<A...> b) {
  return b < a ? b : a;
}
constexpr double max(double a, double b) { return a < b ? b : a; }
constexpr double min(double a, double b) { return b < a ? b : a; }
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
template <int... A>
auto sqrt(Quantity<A...> a) {
  static_assert(((A % 2 == 0) && ...), "the square root of this dimension has fractional exponents");
  return internal::Made<(A / 2)...>::Of(std::sqrt(a.base()));
}
// To whole numbers, whatever the rounding of what came before: 128 * (108 / 128) holds 108. Formulas of figures write
// the guard out.
inline constexpr double kRoundingGuard = 1e-9;
inline double WholeBelow(double x) { return std::floor(x + kRoundingGuard); }
inline double WholeAbove(double x) { return std::ceil(x - kRoundingGuard); }
// (a^p + b^p)^(1/p): two limits that partly overlap; p = 1 is the sum, p = infinity the maximum.
template <int... A>
Quantity<A...> norm(Quantity<A...> a, Quantity<A...> b, double p) {
  const double large = std::max(a.base(), b.base());
  if (!(large > 0)) return Quantity<A...>();
  const double small = std::min(a.base(), b.base()) / large;
  return Quantity<A...>::FromBase(large * (p == 2   ? std::sqrt(1 + small * small)
                                           : p == 3 ? std::cbrt(1 + small * small * small)
                                                    : std::pow(1 + std::pow(small, p), 1 / p)));
}

// clang-format off
//                                 B  F  t  s  $  J mm  g
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
using FlopsPerByte = Quantity<    -1, 1, 0, 0, 0, 0, 0, 0>;
using TokensPerSecond = Quantity<  0, 0, 1,-1, 0, 0, 0, 0>;
using Hertz = Quantity<            0, 0, 0,-1, 0, 0, 0, 0>;
using Watts = Quantity<            0, 0, 0,-1, 0, 1, 0, 0>;
using BytesPerToken = Quantity<    1, 0,-1, 0, 0, 0, 0, 0>;
using FlopsPerToken = Quantity<    0, 1,-1, 0, 0, 0, 0, 0>;
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

}  // namespace slipstick
