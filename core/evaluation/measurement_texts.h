// The user's own measurements in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/units.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// Warnings that say which constant each measurement moved, from which value to which.
std::vector<std::string> MeasurementWarnings(const Scenario& scenario);

// A measured or computed value of a figure, with its unit.
std::string MeasuredText(double value, std::string_view figure);

// One unit of a figure in the report: "1 s"; a mere number has none.
Measure OneUnitOf(std::string_view figure);

// A value as the report states the figure: "5 t" is 5 where the unit is t. A number without a unit has the report's. An
// issue if the dimension is another.
Result<double> ReportedValue(const Measure& value, const std::string& figure);

}  // namespace slipstick
