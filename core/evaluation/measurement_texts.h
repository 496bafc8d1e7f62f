// The user's own measurements in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/scenario.h"

namespace slipstick {

// Warnings that say which constant each measurement moved, from which value to which.
std::vector<std::string> MeasurementWarnings(const Scenario& scenario);

// A measured or computed value of a figure, with its unit.
std::string MeasuredText(double value, std::string_view figure);

}  // namespace slipstick
