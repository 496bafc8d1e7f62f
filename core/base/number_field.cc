#include "core/base/number_field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/arithmetic.h"

namespace slipstick::internal {
namespace {

// In the field's unit, or in the base unit if that makes a small fraction readable: "1,000 B" for 1e-06 GB.
std::string BoundText(double bound, const NumberField& field) {
  const FieldFacts& facts = field.facts;
  const bool in_base = field.whole || (bound >= 1 && 1000 * bound < facts.unit_factor);
  const double value = in_base ? bound : bound / facts.unit_factor;
  std::string text = value == std::floor(value) ? GroupedText(value) : NumberText(value);
  if (!facts.unit.empty()) text += " " + (in_base ? BaseUnitText(field.dimension) : std::string(facts.unit));
  return text;
}

std::string WithArticle(bool whole) { return whole ? "a whole number" : "a number"; }

std::string RangeText(const NumberField& field) {
  const Range& range = field.facts.range;
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  std::string text = WithArticle(field.whole);
  if (low && high) {
    text += " from " + BoundText(range.low, field) + " to " + BoundText(range.high, field);
  } else if (low) {
    text += " of at least " + BoundText(range.low, field);
  } else if (high) {
    text += " of at most " + BoundText(range.high, field);
  }
  return text;
}

// A comma that does not group thousands may be a decimal point: the user must decide.
std::string CommaText(const Json& json) {
  const bool comma = json.is_string() && TextOf(json).find(',') != std::string_view::npos;
  return comma ? " (a comma only groups thousands: write 1.5 or 1,500)" : "";
}

// "70B": B is a byte, or a billion where bytes make no sense.
bool IsBillions(std::string_view text, const Measure& measure) {
  return measure.has_unit && measure.dimension == Bytes::kDimension && text.size() > 1 && text.back() == 'B' &&
         std::string_view(" 0123456789.)").find(text[text.size() - 2]) != std::string_view::npos;
}

// The limit is well below 2^53, up to which a double holds every whole number.
bool FitsCount(double value) { return std::abs(value) < 9e15; }

std::optional<Measure> MeasureOf(const NumberField& field, std::string_view text) {
  std::optional<Measure> measure = ParseMeasure(text, field.facts.is_length ? 1024 : 1000);
  if (measure && field.dimension != Bytes::kDimension && IsBillions(text, *measure))
    measure = Measure{measure->value * 1e9, {}, false};
  return measure;
}

bool HasDimension(const NumberField& field, const Measure& measure) {
  const bool tokens = field.facts.is_length && measure.dimension == Tokens::kDimension;
  return !measure.has_unit || measure.dimension == field.dimension || tokens;
}

// Whether a text is a number of this dimension that overflows a double in base units: "1e300 TFLOP/s".
bool IsTooLarge(const NumberField& field, std::string_view text) {
  const std::optional<WrittenNumber> number = ReadArithmetic(text);
  if (!number || number->value < 0) return false;
  const std::optional<Measure> unit = MeasureOf(field, "1" + std::string(text.substr(number->used)));
  return unit && HasDimension(field, *unit) && !std::isfinite(number->value * unit->value);
}

// Likely meanings of a rejected text: "1,5" is 1.5 or 15, "3 TB" for a rate is 3 TB/s, "80 gb" is 80 GB.
std::vector<Json> MeantBy(std::string text) {
  if (const std::optional<UnknownUnit> unknown = FindUnknownUnit(text); unknown && !unknown->spelled.empty())
    return {unknown->spelled};
  if (text.find(',') != std::string::npos) {
    std::string point = text;
    std::replace(point.begin(), point.end(), ',', '.');
    if (text.starts_with('0')) return {point};
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    return {point, text};
  }
  if (text.ends_with("/s")) return {text.substr(0, text.size() - 2)};
  return {text + "/s"};
}

}  // namespace

Fixes WithoutIt(const FieldFacts& facts, const Location& location) {
  if (facts.is_required || location.member.empty()) return {};
  return {LeaveOut(location.Text())};
}

std::optional<double> NumberField::NumberOf(const Json& json) const {
  if (json.is_number()) return json.get<double>();
  const std::optional<Measure> measure = json.is_string() ? MeasureOf(*this, TextOf(json)) : std::nullopt;
  return measure && HasDimension(*this, *measure) ? std::optional(measure->value) : std::nullopt;
}

std::optional<double> NumberField::Accepted(const Json& json) const {
  const std::optional<double> value = NumberOf(json);
  if (!value) return std::nullopt;
  const Range& range = facts.range;
  const bool in_range = std::isfinite(*value) && *value >= range.low && *value <= range.high;
  const bool is_whole = !whole || (*value == std::floor(*value) && FitsCount(*value));
  return in_range && is_whole ? value : std::nullopt;
}

std::string MessageOf(const Json& json, const NumberField& field) {
  const std::string base = BaseUnitText(field.dimension);
  const std::optional<Measure> measure = json.is_string() ? MeasureOf(field, TextOf(json)) : std::nullopt;
  if (measure && !HasDimension(field, *measure)) {
    const std::string found = BaseUnitText(measure->dimension);
    return "Enter " + (base.empty() ? std::string("a number without a unit") : "a quantity in " + base) +
           (found.empty() ? "" : ", not in " + found);
  }
  const std::string unit = base.empty() || !field.facts.unit.empty() ? std::string() : " " + base;
  const std::optional<UnknownUnit> unknown =
      json.is_string() && !base.empty() ? FindUnknownUnit(TextOf(json)) : std::nullopt;
  if (unknown && !measure) {
    const std::string known = field.facts.unit.empty() ? base : std::string(field.facts.unit);
    return "Enter a number in " + known + ": unknown unit \"" + unknown->name + "\"";
  }
  if (json.is_string() && IsTooLarge(field, TextOf(json))) {
    const double high =
        std::isfinite(field.facts.range.high) ? field.facts.range.high : std::numeric_limits<double>::max();
    return "Too large: enter " + WithArticle(field.whole) + " of at most " + BoundText(high, field) + unit;
  }
  return "Enter " + RangeText(field) + unit + CommaText(json);
}

Fixes FixesOf(const Json& json, const NumberField& field) {
  const FieldFacts& facts = field.facts;
  std::vector<Json> candidates;
  if (json.is_string() && TextOf(json).size() <= kMaxText) candidates = MeantBy(TextOf(json));
  const auto bound = [&](double value) {
    if (!facts.unit.empty() && !field.whole) candidates.emplace_back(BoundText(value, field));
    candidates.push_back(field.whole ? Json(static_cast<Count>(value)) : Json(value));
  };
  if (const std::optional<double> value = field.NumberOf(json)) {
    if (field.whole && FitsCount(*value)) {
      for (const double whole : {std::floor(*value), std::ceil(*value)})
        candidates.emplace_back(static_cast<Count>(whole));
    }
    if (*value < facts.range.low) bound(facts.range.low);
    if (*value > facts.range.high) bound(facts.range.high);
  }
  const std::string path = field.location.Text();
  Fixes fixes;
  std::vector<double> known;
  for (const Json& candidate : candidates) {
    const std::optional<double> value = field.Accepted(candidate);
    if (!value || std::find(known.begin(), known.end(), *value) != known.end()) continue;
    known.push_back(*value);
    fixes.push_back({{path, JsonText(candidate)}});
  }
  if (fixes.empty()) fixes = WithoutIt(facts, field.location);
  return fixes;
}

}  // namespace slipstick::internal
