#include "core/base/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "core/base/arithmetic.h"

namespace slipstick {
namespace {

struct BaseUnit {
  std::string_view text;
  double factor;
  Dimension dimension;
  bool prefixes;
};

// A whole name is looked up before any prefix is split off, so that "min" is a minute and "m" a meter.
constexpr BaseUnit kBaseUnits[] = {
    {"B", 1, Bytes::kDimension, true},
    {"byte", 1, Bytes::kDimension, true},
    {"bytes", 1, Bytes::kDimension, true},
    {"b", 0.125, Bytes::kDimension, true},
    {"bit", 0.125, Bytes::kDimension, true},
    {"Bps", 1, BytesPerSecond::kDimension, true},
    {"bps", 0.125, BytesPerSecond::kDimension, true},
    {"FLOP", 1, Flops::kDimension, true},
    {"FLOPs", 1, Flops::kDimension, true},
    {"FLOPS", 1, FlopsPerSecond::kDimension, true},
    {"OP", 1, Flops::kDimension, true},
    {"OPS", 1, FlopsPerSecond::kDimension, true},
    {"token", 1, Tokens::kDimension, true},
    {"tokens", 1, Tokens::kDimension, true},
    {"tok", 1, Tokens::kDimension, true},
    {"s", 1, Seconds::kDimension, true},
    {"min", 60, Seconds::kDimension, false},
    {"h", 3600, Seconds::kDimension, false},
    {"hour", 3600, Seconds::kDimension, false},
    {"hours", 3600, Seconds::kDimension, false},
    {"day", 86400, Seconds::kDimension, false},
    {"days", 86400, Seconds::kDimension, false},
    {"month", 2629800, Seconds::kDimension, false},
    {"months", 2629800, Seconds::kDimension, false},
    {"year", 31557600, Seconds::kDimension, false},
    {"years", 31557600, Seconds::kDimension, false},
    {"Hz", 1, Hertz::kDimension, true},
    {"$", 1, Dollars::kDimension, true},
    {"USD", 1, Dollars::kDimension, true},
    {"usd", 1, Dollars::kDimension, false},
    {"J", 1, Joules::kDimension, true},
    {"Wh", 3600, Joules::kDimension, true},
    {"W", 1, Watts::kDimension, true},
    {"m", 1000, Millimetres::kDimension, false},
    {"mm", 1, Millimetres::kDimension, false},
    {"cm", 10, Millimetres::kDimension, false},
    {"um", 1e-3, Millimetres::kDimension, false},
    {"µm", 1e-3, Millimetres::kDimension, false},
    {"nm", 1e-6, Millimetres::kDimension, false},
    {"g", 1, Grams::kDimension, true},
    {"t", 1e6, Grams::kDimension, false},
};

struct Prefix {
  std::string_view text;
  double factor;
};
constexpr Prefix kPrefixes[] = {
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0},
    {"f", 1e-15},
    {"p", 1e-12},
    {"n", 1e-9},
    {"u", 1e-6},
    {"µ", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"K", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Z", 1e21},
    {"Y", 1e24},
};

struct Scaled {
  double factor;
  Dimension dimension;
};

std::optional<Scaled> FindUnit(std::string_view name) {
  for (const BaseUnit& unit : kBaseUnits) {
    if (unit.text == name) return Scaled{unit.factor, unit.dimension};
  }
  for (const Prefix& prefix : kPrefixes) {
    if (name.size() <= prefix.text.size() || name.substr(0, prefix.text.size()) != prefix.text) continue;
    const std::string_view rest = name.substr(prefix.text.size());
    for (const BaseUnit& unit : kBaseUnits) {
      if (unit.prefixes && unit.text == rest) return Scaled{prefix.factor * unit.factor, unit.dimension};
    }
  }
  return std::nullopt;
}

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

void Trim(std::string_view& text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
}

// Reads factors "name[^power]" joined by '*' or '/'.
std::optional<Scaled> ParseUnit(std::string_view text) {
  Scaled result{1, {}};
  int sign = 1;
  while (true) {
    Trim(text);
    if (!text.empty() && (text.front() == '/' || text.front() == '*')) {
      sign = text.front() == '/' ? -1 : 1;
      text.remove_prefix(1);
      Trim(text);
    }
    if (text.empty()) return std::nullopt;
    const std::size_t end = std::min(text.find_first_of("/*"), text.size());
    std::string_view factor = text.substr(0, end);
    text.remove_prefix(end);
    Trim(factor);
    int power = 1;
    if (const std::size_t caret = factor.find('^'); caret != std::string_view::npos) {
      const std::string_view digits = factor.substr(caret + 1);
      if (digits.size() != 1 || digits[0] < '1' || digits[0] > '9') return std::nullopt;
      power = digits[0] - '0';
      factor = factor.substr(0, caret);
    } else if (factor.size() > 2 && factor.substr(factor.size() - 2) == "²") {
      power = 2;
      factor.remove_suffix(2);
    }
    const std::optional<Scaled> unit = FindUnit(factor);
    if (!unit) return std::nullopt;
    result.factor *= std::pow(unit->factor, sign * power);
    for (int i = 0; i < kDimensions; ++i) {
      result.dimension[static_cast<std::size_t>(i)] += sign * power * unit->dimension[static_cast<std::size_t>(i)];
    }
    if (text.empty()) return result;
  }
}

std::optional<double> CountSuffix(std::string_view text, double thousand) {
  if (text == "k" || text == "K") return thousand;
  if (text == "M") return thousand * thousand;
  if (text == "G") return 1e9;
  if (text == "T") return 1e12;
  if (text == "%") return 0.01;
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.text.size() == 2 && prefix.text.back() == 'i' && prefix.text == text) return prefix.factor;
  }
  return std::nullopt;
}

// Replaces typographic spaces by plain ones.
std::string PlainSpaces(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\u00a0") {
      plain += ' ';
      i += 1;
    } else if (text.substr(i, 3) == "\u202f" || text.substr(i, 3) == "\u2009") {
      plain += ' ';
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// "15 trillion tokens" as "15 T tokens", "$5 million" as "$5 M".
std::string WithLetters(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"thousand", "k"}, {"million", "M"}, {"billion", "G"}, {"trillion", "T"}};
  for (const auto& [word, letter] : kWords) {
    if (const std::size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), letter);
  }
  return text;
}

// "$2.5/h" as "2.5 $/h", "$40" as "40 $", "$5M" as "5 M$".
std::string BehindTheNumber(std::string_view dollars) {
  dollars.remove_prefix(1);
  Trim(dollars);
  const std::size_t end = std::min(dollars.find_first_not_of("0123456789.,_"), dollars.size());
  std::string_view rest = dollars.substr(end);
  Trim(rest);
  const bool scaled = !rest.empty() && rest.front() != '/';
  const std::string unit =
      !scaled ? "$" + std::string(rest)
              : (rest.front() == 'B' ? "G" : std::string(1, rest.front())) + "$" + std::string(rest.substr(1));
  return std::string(dollars.substr(0, end)) + " " + unit;
}

std::optional<Measure> ParsePlain(std::string_view text, double thousand) {
  Trim(text);
  const std::optional<WrittenNumber> number = ReadArithmetic(text);
  if (!number) return std::nullopt;
  std::string_view rest = text.substr(number->used);
  Trim(rest);
  const double value = number->value;
  if (rest.empty()) return number->sides ? std::nullopt : std::optional(Measure{value, {}, false});
  if (const auto factor = CountSuffix(rest, thousand); factor && FindUnit(rest) == std::nullopt) {
    return Measure{value * *factor, {}, false};
  }
  // "15T tokens", "128k tokens": k is the thousand of a length in tokens.
  const std::string_view kScales = "kKMGBT";
  if (kScales.find(rest.front()) != std::string_view::npos && rest.size() > 4) {
    std::string_view name = rest.substr(1);
    Trim(name);
    const bool spaced = name.size() + 1 < rest.size();
    const bool thousands = rest.front() == 'k' || rest.front() == 'K';
    if ((name == "token" || name == "tokens" || name == "tok") &&
        (spaced || rest.front() == 'B' || (thousands && thousand != 1000))) {
      const double factor = rest.front() == 'B' ? 1e9 : CountSuffix(rest.substr(0, 1), thousand).value_or(1);
      return Measure{value * factor, Tokens::kDimension, true};
    }
  }
  std::optional<Scaled> unit = ParseUnit(rest);
  if (unit && number->sides) {
    if (unit->dimension != Millimetres::kDimension) return std::nullopt;
    unit = Scaled{unit->factor * unit->factor, SquareMillimetres::kDimension};
  }
  if (!unit || !std::isfinite(value * unit->factor)) return std::nullopt;
  return Measure{value * unit->factor, unit->dimension, true};
}

}  // namespace

std::optional<Measure> ParseMeasure(std::string_view text, double thousand) {
  if (text.empty() || text.size() > 80) return std::nullopt;
  const std::string plain = WithLetters(PlainSpaces(text));
  std::string_view view = plain;
  Trim(view);
  return !view.empty() && view.front() == '$' ? ParsePlain(BehindTheNumber(view), thousand)
                                              : ParsePlain(view, thousand);
}

namespace {

// Other spellings that people use for a unit's name: in capitals, as a binary unit, with a power.
std::array<std::string, 3> OtherSpellings(std::string_view name) {
  std::string capitals(name);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string binary = capitals;
  if (binary.size() > 2 && binary[1] == 'I') binary[1] = 'i';
  std::string power(name);
  if (power.size() > 1 && power.back() >= '2' && power.back() <= '9') power.insert(power.size() - 1, "^");
  return {capitals, binary, power};
}

}  // namespace

std::optional<UnknownUnit> FindUnknownUnit(std::string_view text) {
  const std::string plain = PlainSpaces(text);
  std::string_view view = plain;
  Trim(view);
  const std::optional<WrittenNumber> number = ReadArithmetic(view);
  if (!number || text.size() > 80) return std::nullopt;
  std::string_view rest = view.substr(number->used);
  UnknownUnit unknown{"", std::string(view.substr(0, number->used)) + " "};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("/*"), rest.size());
    std::string_view factor = rest.substr(0, end);
    Trim(factor);
    std::string spelled(factor);
    if (!factor.empty() && !ParseUnit(factor)) {
      const auto ways = OtherSpellings(factor);
      const auto known =
          std::find_if(ways.begin(), ways.end(), [](const std::string& way) { return ParseUnit(way).has_value(); });
      if (unknown.name.empty()) unknown.name = factor;
      spelled = known != ways.end() ? *known : "";
      if (known == ways.end()) unknown.spelled.clear();
    }
    if (!unknown.spelled.empty()) unknown.spelled += spelled + std::string(rest.substr(end, 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (unknown.name.empty()) return std::nullopt;
  return unknown;
}

std::string BaseUnitText(const Dimension& dimension) {
  constexpr std::string_view kNames[kDimensions] = {"B", "FLOP", "token", "s", "$", "J", "mm", "g"};
  if (dimension == Watts::kDimension) return "W";
  std::string above, below;
  for (int i = 0; i < kDimensions; ++i) {
    const int power = dimension[static_cast<std::size_t>(i)];
    if (power == 0) continue;
    std::string& side = power > 0 ? above : below;
    if (power < 0) side += '/';
    if (power > 0 && !side.empty()) side += '*';
    side += kNames[i];
    if (std::abs(power) > 1) side += '^' + std::to_string(std::abs(power));
  }
  return above + below;
}

std::string NumberText(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string TenthsText(double value) { return NumberText(std::round(10 * value) / 10); }

// Unlike NumberText, prints all digits.
std::string GroupedText(double whole) {
  if (std::abs(whole) >= 1'000'000'000'000'000) return NumberText(whole);
  std::string text = std::to_string(static_cast<Count>(whole));
  for (std::size_t at = text.size(), digits = whole < 0 ? 1 : 0; at > digits + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string GibText(Bytes bytes) {
  const double gib = In(bytes, kGiB);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), gib < 1000 ? "%.4g GiB" : "%.3g TiB", gib < 1000 ? gib : gib / 1024);
  return text.data();
}

std::string ReadableText(double value, std::string unit) {
  struct Prefix {
    double factor;
    const char* text;
  };
  constexpr std::array<Prefix, 9> kReadablePrefixes{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
  const bool is_time = unit == "s", is_price = unit == "$",
             takes_prefix = unit.starts_with('B') || unit.starts_with("FLOP") || unit == "W" || unit == "J";
  double factor = 1;
  for (const Prefix& prefix : kReadablePrefixes) {
    const bool fits = prefix.factor == 1 || takes_prefix || (is_time && prefix.factor < 1) ||
                      (is_price && prefix.factor == kMUsd.factor);
    if (!fits || std::abs(value) < prefix.factor) continue;
    factor = prefix.factor, unit = prefix.text + unit;
    break;
  }
  const double shown = value / factor;
  constexpr double kGrouped = 1'000'000;
  if (unit.empty() && std::abs(value) >= kGrouped && value == std::round(value)) return GroupedText(value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), std::abs(shown) >= 1e4 && std::abs(shown) < 1e6 ? "%.0f" : "%.4g", shown);
  return text.data() + (unit.empty() ? "" : " " + unit);
}

}  // namespace slipstick
