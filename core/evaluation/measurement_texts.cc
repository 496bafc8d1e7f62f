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

}  // namespace

std::vector<std::string> MeasurementWarnings(const Scenario& scenario) {
  std::vector<std::string> texts;
  for (const OwnMeasurement& own : scenario.measured) {
    const std::string figure = std::string(OutputTitle(own.path)) + " " + MeasuredText(own.value, own.path);
    texts.push_back(own.Moves()
                        ? "Moved to your measurement: " + figure + ", where " + MeasuredText(own.computed, own.path) +
                              " is computed. In place of " + InputText(own.from, own.input) + ": " + own.input + " " +
                              InputText(own.to, own.input)
                        : "Your measurement says nothing of this system: " + figure + " was measured on " + own.system +
                              ", or with another " + own.input);
  }
  return texts;
}

std::string MeasuredText(double value, std::string_view figure) {
  const Json* output = OutputAt(figure);
  const Json* named = output == nullptr ? nullptr : FindMember(*output, "unit");
  const std::string unit = named != nullptr && named->is_string() ? TextOf(*named) : "";
  if (unit == "%") return NumberText(100 * value) + " %";
  if (unit == "s" && value >= 2 * kDay.factor) return NumberText(value / kDay.factor) + " days";
  return ReadableText(value, unit == "count" ? "" : unit);
}

}  // namespace slipstick
