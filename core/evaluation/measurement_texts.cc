#include "core/evaluation/measurement_texts.h"

#include "core/base/type_path.h"
#include "core/base/units.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

std::string InputText(double value, std::string_view path) {
  const internal::Type* type = internal::TypeAt(internal::kType<Scenario>, path);
  while (type != nullptr && type->kind == internal::Kind::kOptional) type = type->inner;
  const bool has_unit = type != nullptr && type->kind == internal::Kind::kQuantity;
  return has_unit ? ReadableText(value, BaseUnitText(*type->dimension)) : NumberText(value);
}

// The unit of a figure in the report; "" if it is a mere number.
std::string UnitIn(std::string_view figure) {
  const std::string_view unit = UnitOf(figure);
  return unit == "count" ? "" : std::string(unit);
}

}  // namespace

std::vector<std::string> MeasurementWarnings(const Scenario& scenario) {
  std::vector<std::string> texts;
  for (const OwnMeasurement& own : scenario.measured) {
    const std::string figure = std::string(OutputTitle(own.path)) + " " + MeasuredText(own.value, own.path);
    texts.push_back(own.Moves()
                        ? "Moved to your measurement: " + figure + ", where " + MeasuredText(own.computed, own.path) +
                              " is computed. In place of " + InputText(own.from, own.input) + ": " + own.input + " " +
                              InputText(own.to, own.input)
                        : "Your measurement does not apply here: " + figure + " was measured on another system (" +
                              own.system + ") or with another value of " + own.input);
  }
  return texts;
}

std::string MeasuredText(double value, std::string_view figure) {
  const std::string unit = UnitIn(figure);
  if (unit == "%") return NumberText(100 * value) + " %";
  if (unit == "s" && value >= 2 * kDay.factor) return NumberText(value / kDay.factor) + " days";
  return ReadableText(value, unit);
}

Measure OneUnitOf(std::string_view figure) { return *ParseMeasure("1 " + UnitIn(figure)); }

Result<double> ReportedValue(const Measure& value, const std::string& figure) {
  if (!value.has_unit || OutputAt(figure) == nullptr) return value.value;
  const std::string unit = UnitIn(figure);
  const Measure one = OneUnitOf(figure);
  if (value.dimension != one.dimension) {
    return Issues{{figure, "Enter a number " + (unit.empty() ? "without a unit" : "in " + unit) + ", not in " +
                               BaseUnitText(value.dimension)}};
  }
  const bool is_share = one.dimension == Dimension{};  // stated as a fraction
  return is_share ? value.value : value.value / one.value;
}

}  // namespace slipstick
