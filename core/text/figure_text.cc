#include "core/text/figure_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core/base/units.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

constexpr double kDecimal = 1000, kBinary = 1024;
constexpr std::string_view kPrefixes = "kMGTPE", kBinaryPrefixes = "KMGTPE";

struct TimeStep {
  double from;
  Unit<Seconds> unit;
  std::string_view text;
};
constexpr Unit<Seconds> kMinute{"min", 60};
constexpr TimeStep kTimeSteps[] = {{2 * kYear.factor, kYear, "years"},
                                   {2 * kDay.factor, kDay, "days"},
                                   {2 * kHour.factor, kHour, "h"},
                                   {2 * kMinute.factor, kMinute, "min"},
                                   {1, kS, "s"},
                                   {kMs.factor, kMs, "ms"},
                                   {kUs.factor, kUs, "µs"},
                                   {0, kNs, "ns"}};

// Three significant digits, more for large numbers: "544,798", "51.8", "0.0012".
std::string Digits(double value) {
  std::array<char, 64> text{};
  const double size = std::abs(value);
  const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : -1;
  if (size != 0 && decimals < 0) {
    std::snprintf(text.data(), text.size(), "%.3g", value);
    return text.data();
  }
  std::snprintf(text.data(), text.size(), "%.*f", size == 0 || value == std::floor(value) ? 0 : decimals, value);
  std::string digits = text.data();
  const std::size_t point = std::min(digits.find('.'), digits.size()), first = value < 0 ? 1 : 0;
  for (std::size_t i = point; i > first + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

// The value with the largest prefix that leaves at least one: 1,500 and "J" -> "1.50 kJ".
std::string Prefixed(double value, std::string_view unit) {
  std::string_view prefixes = kPrefixes;
  std::string prefix;
  for (; !prefixes.empty() && std::abs(value) >= kDecimal; prefixes.remove_prefix(1))
    value /= kDecimal, prefix = prefixes[0];
  return Digits(value) + " " + prefix + std::string(unit);
}

std::string BytesText(double bytes, std::string_view unit) {
  std::string_view prefixes = kBinaryPrefixes;
  std::string prefix;
  for (; !prefixes.empty() && std::abs(bytes) >= kBinary; prefixes.remove_prefix(1))
    bytes /= kBinary, prefix = {prefixes[0], 'i'};
  return Digits(bytes) + " " + prefix + std::string(unit);
}

std::string TimeText(double seconds) {
  if (seconds == 0) return "0 s";
  for (const TimeStep& step : kTimeSteps) {
    if (std::abs(seconds) >= step.from) return Digits(seconds / step.unit.factor) + " " + std::string(step.text);
  }
  return "";
}

std::string MoneyText(double dollars) {
  const double size = std::abs(dollars), millions = dollars / kMUsd.factor;
  if (size >= kMUsd.factor * kDecimal) return "$" + Digits(millions / kDecimal) + " B";
  if (size >= kMUsd.factor) return "$" + Digits(millions) + " M";
  if (size >= 100 || size * 10 < 1) return "$" + Digits(dollars);
  std::array<char, 32> cents{};
  std::snprintf(cents.data(), cents.size(), "$%.2f", dollars);
  return cents.data();
}

// "1,576 tokens/s", "15 T tokens".
std::string TokensText(double value, std::string_view per) {
  const std::string unit = " tokens" + std::string(per);
  return std::abs(value) >= kDecimal * kDecimal ? Prefixed(value, unit) : Digits(value) + unit;
}

}  // namespace

std::string CountText(double value) { return Digits(value); }

std::string FigureText(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "–";
  if (unit == "s") return TimeText(value);
  if (unit == "%") return Digits(value * 100) + " %";
  if (unit == "$") return MoneyText(value);
  if (unit == "J" && std::abs(value) >= kKWh.factor) return Prefixed(value / kHour.factor, "Wh");
  if (unit.starts_with('B')) return BytesText(value, unit);
  if (unit.starts_with("token")) return TokensText(value, unit.substr(std::string_view("token").size()));
  if (unit.empty() || unit == "count") return Digits(value);
  return Prefixed(value, unit);
}

std::string DegreesText(const Json& mapping) {
  std::string text;
  for (const auto& [degree, value] : mapping.items()) {
    if (value.is_number() && (value != 1 || degree == "zero"))
      text += (text.empty() ? "" : " ") + degree + "=" + CountText(value.get<double>());
  }
  return text;
}

std::string_view BriefTitle(std::string_view path) {
  const Json* output = OutputAt(path);
  const Json* brief = output == nullptr ? nullptr : FindMember(*output, "short");
  return brief == nullptr ? OutputTitle(path) : std::string_view(TextOf(*brief));
}

std::string FigureAt(const Json& report, std::string_view path) {
  const Json* value = MemberAt(report, path);
  return value == nullptr || !value->is_number() ? "–" : FigureText(value->get<double>(), UnitOf(path));
}

std::string IntervalAt(const Json& report, std::string_view path, std::string_view unit, double scale) {
  const std::optional<double> low = NumberAt(report, std::string(path) + ".low"),
                              high = NumberAt(report, std::string(path) + ".high");
  return low && high ? FigureText(*low * scale, unit) + " to " + FigureText(*high * scale, unit) : "";
}

}  // namespace slipstick
