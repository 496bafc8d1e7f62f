// Units: constants for code (3.35 * kTBps), and text with a unit in and out ("3.35 TB/s").
//
// Decimal prefixes are decimal (GB = 10^9 byte), binary ones are spelled (GiB = 2^30 byte). A unit text is base units
// with prefixes, joined by * and / with integer powers: "0.08 $/kWh", "0.1 /cm^2", "15 Ttoken", "400 Gb/s".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/quantity.h"

namespace slipstick {

template <class Q>
struct Unit {
  std::string_view text;
  double factor;  // in base units
};
template <int... E>
constexpr Quantity<E...> operator*(double value, Unit<Quantity<E...>> unit) {
  return Quantity<E...>::FromBase(value * unit.factor);
}
template <int... E>
constexpr Quantity<E...> operator*(Ratio value, Unit<Quantity<E...>> unit) {
  const Ratio base = value * unit.factor;
  return Quantity<E...>::FromBase(base.base(), base.node());
}
template <class Q>
constexpr double In(Q quantity, Unit<Q> unit) {
  return quantity.base() / unit.factor;
}

inline constexpr Unit<Bytes> kB{"B", 1}, kKB{"kB", 1e3}, kMB{"MB", 1e6}, kGB{"GB", 1e9};
inline constexpr Unit<Bytes> kKiB{"KiB", 1024.0}, kMiB{"MiB", 1048576.0}, kGiB{"GiB", 1073741824.0};
inline constexpr Unit<Flops> kFlop{"FLOP", 1}, kTFlop{"TFLOP", 1e12};
inline constexpr Unit<Tokens> kToken{"token", 1}, kGToken{"Gtoken", 1e9}, kTToken{"Ttoken", 1e12};
inline constexpr Unit<Seconds> kS{"s", 1}, kMs{"ms", 1e-3}, kUs{"us", 1e-6}, kNs{"ns", 1e-9};
inline constexpr Unit<Seconds> kHour{"h", 3600}, kDay{"day", 86400}, kYear{"year", 31557600};
inline constexpr Unit<Dollars> kUsd{"$", 1}, kMUsd{"M$", 1e6};
inline constexpr Unit<Joules> kJ{"J", 1}, kPJ{"pJ", 1e-12}, kKWh{"kWh", 3.6e6};
inline constexpr Unit<Millimetres> kMm{"mm", 1};
inline constexpr Unit<SquareMillimetres> kMm2{"mm^2", 1}, kUm2{"um^2", 1e-6};
inline constexpr Unit<Grams> kGram{"g", 1}, kKg{"kg", 1e3};
inline constexpr Unit<BytesPerSecond> kBps{"B/s", 1}, kGBps{"GB/s", 1e9}, kTBps{"TB/s", 1e12};
inline constexpr Unit<FlopsPerSecond> kFlops{"FLOP/s", 1}, kTFlops{"TFLOP/s", 1e12};
inline constexpr Unit<TokensPerSecond> kTokenPerS{"token/s", 1};
inline constexpr Unit<Hertz> kGHz{"GHz", 1e9};
inline constexpr Unit<Watts> kWatt{"W", 1}, kKW{"kW", 1e3}, kMW{"MW", 1e6};
inline constexpr Unit<DollarsPerToken> kUsdPerMToken{"$/Mtoken", 1e-6};
inline constexpr Unit<DollarsPerSecond> kUsdPerHour{"$/h", 1 / 3600.0};
inline constexpr Unit<DollarsPerJoule> kUsdPerKWh{"$/kWh", 1 / 3.6e6}, kUsdPerKWMonth{"$/kW/month", 1 / 2.6298e9};
inline constexpr Unit<DollarsPerByte> kUsdPerGB{"$/GB", 1e-9};
inline constexpr Unit<DollarsPerArea> kUsdPerMm2{"$/mm^2", 1};
inline constexpr Unit<DollarsPerWatt> kUsdPerW{"$/W", 1};
inline constexpr Unit<JoulesPerByte> kPJPerBit{"pJ/b", 8e-12};
inline constexpr Unit<JoulesPerFlop> kPJPerFlop{"pJ/FLOP", 1e-12};
inline constexpr Unit<PerArea> kPerCm2{"/cm^2", 0.01}, kPerMm2{"/mm^2", 1};
inline constexpr Unit<GramsPerArea> kGPerCm2{"g/cm^2", 0.01};
inline constexpr Unit<JoulesPerArea> kKWhPerCm2{"kWh/cm^2", 36000};
inline constexpr Unit<DollarsPerBandwidth> kUsdPerGBps{"$*s/GB", 1e-9};
inline constexpr Unit<GramsPerJoule> kGPerKWh{"g/kWh", 1 / 3.6e6};
inline constexpr Unit<GramsPerByte> kGPerGB{"g/GB", 1e-9};

// A number with an optional unit.
struct Measure {
  double value = 0;       // in base units
  Dimension dimension{};  // all zero: no unit was written
  bool has_unit = false;
};

// Reads "80 GB", "0.1 /cm^2", "4k", "1e12", "85 %", "15 Ttoken". Without a unit the suffixes k, M, G, B, T are
// multipliers; k is `thousand` (1,000, or 1,024 for lengths in tokens, where people write 8k for 8,192). Returns
// nothing if the text is not a number or the unit is unknown.
std::optional<Measure> ParseMeasure(std::string_view text, double thousand = 1000);

// A text whose number is followed by an unknown unit.
struct UnknownUnit {
  std::string name;  // "gb" of "80 gb", "mm2" of "1e3 mm2", "€" of "0.12 €/kWh"
  std::string
      spelled;  // the text with a known unit that differs only in capitals or a ^: "80 GB", "1e3 mm^2"; or empty
};
// Returns nothing if the text has no number, or only known units after it.
std::optional<UnknownUnit> FindUnknownUnit(std::string_view text);

// The base unit of a dimension as text: {1,0,0,-1,…} -> "B/s".
std::string BaseUnitText(const Dimension& dimension);

// At most six significant digits, no trailing zeros.
std::string NumberText(double value);
// Rounded to tenths.
std::string TenthsText(double value);

// A whole number, its thousands apart: "16,777,216".
std::string GroupedText(double whole);

// A size of memory as the page shows it: "79.2 GiB", "8.58 TiB".
std::string GibText(Bytes bytes);

// A value in a base unit for people, with four digits and a decimal prefix: "5.657 s", "80 GB", "12.5 us".
std::string ReadableText(double value, std::string unit);

}  // namespace slipstick
