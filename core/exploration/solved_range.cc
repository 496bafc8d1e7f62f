#include "core/exploration/solved_range.h"

#include <cmath>

#include "core/base/schema.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

// The number in base units. Without a unit it is in the field's unit if the request's version reads texts that way.
std::optional<double> BaseValue(std::string_view text, double thousand, double bare_unit) {
  const std::optional<Measure> measure = ParseMeasure(text, thousand);
  if (!measure) return std::nullopt;
  return measure->has_unit ? measure->value : measure->value * bare_unit;
}

}  // namespace

std::optional<SolvedRange> ParseSpan(std::string_view text, const FieldRow& field, Count version) {
  const internal::Kind kind = internal::TypeOfValue(*field.type).kind;
  SolvedRange span;
  span.whole = IsWhole(field);
  if (kind != internal::Kind::kQuantity && kind != internal::Kind::kRatio && !span.whole) return std::nullopt;
  const double thousand = field.facts.is_length ? 1024 : 1000;
  const double bare_unit = version >= 3 && internal::HasUnitToName(field) ? field.facts.unit_factor : 1;
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  const std::optional<double> low = BaseValue(text.substr(0, first), thousand, bare_unit);
  const std::optional<double> high = BaseValue(text.substr(first + 1, second - first - 1), thousand, bare_unit);
  if (!low || !high || !(*low < *high)) return std::nullopt;
  if (second != std::string_view::npos) {
    const std::optional<Measure> step = ParseMeasure(text.substr(second + 1), thousand);
    if (!step || !span.whole || step->value < 1) return std::nullopt;
    span.step = std::floor(step->value);
  }
  span.low = span.whole ? std::ceil(*low) : *low;
  span.high = span.whole ? span.low + std::floor((*high - span.low) / span.step) * span.step : *high;
  return span;
}

std::string ShownIn(const FieldRow& field, double value) {
  const double shown = value / field.facts.unit_factor;
  const std::string unit(field.facts.unit);
  return (shown == std::floor(shown) ? GroupedText(shown) : NumberText(shown)) + (unit.empty() ? "" : " " + unit);
}

}  // namespace slipstick
