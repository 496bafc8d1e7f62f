#include "core/exploration/solved_range.h"

#include <cmath>
#include <string>

#include "core/base/schema.h"
#include "core/base/units.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

// The number in base units. Without a unit it is in the field's unit if the request's version reads texts that way.
std::optional<double> BaseValue(std::string_view text, double thousand, double bare_unit) {
  const std::optional<Measure> measure = ParseMeasure(text, thousand);
  if (!measure) return std::nullopt;
  return measure->has_unit ? measure->value : measure->value * bare_unit;
}

// The unit of numbers without one, in base units.
double BareUnitOf(const Json& field, Count version) {
  const bool names_units =
      version >= 3 && field.value("kind", "") == "quantity" && field.value("base_unit", "") != "token";
  return names_units ? field.value("unit_factor", 1.0) : 1;
}

}  // namespace

Json FieldOf(std::string_view path) {
  Json inputs = Json::array();
  Describe<Scenario>("", inputs);
  std::string wanted;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool digit = path[i] >= '0' && path[i] <= '9' && (i == 0 || path[i - 1] == '.' || wanted.back() == '*');
    if (!digit) wanted += path[i];
    if (digit && wanted.back() != '*') wanted += '*';
  }
  for (const Json& field : inputs) {
    if (field["path"] == wanted) return field;
  }
  return nullptr;
}

std::optional<SolvedRange> ParseSpan(std::string_view text, const Json& field, Count version) {
  const std::string kind = field.value("kind", "");
  const double bare_unit = BareUnitOf(field, version);
  SolvedRange span;
  span.whole = kind == "count" || kind == "length";
  if (kind != "quantity" && kind != "ratio" && !span.whole) return std::nullopt;
  const double thousand = kind == "length" ? 1024 : 1000;
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

}  // namespace slipstick
