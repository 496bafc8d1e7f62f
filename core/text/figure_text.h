// Figures and mappings for people: three digits, and a suitable unit.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"

namespace slipstick {

// A value and its base unit as outputs describe it: (0.0198, "s") -> "19.8 ms", (0.518, "%") -> "51.8 %", (8.1e6, "$")
// -> "$8.1 M".
std::string FigureText(double value, std::string_view unit);
// "1,576", "27.6".
std::string CountText(double value);

// The degrees of a mapping that are not 1, and the stage of ZeRO, as they are written: "tp=8 pp=2 zero=1".
std::string DegreesText(const Json& mapping);

// The figure at a path of a report, in its output's unit; "–" if the report has none.
std::string FigureAt(const Json& report, std::string_view path);
// The interval at a path, `scale` times as large: "15.5 ms to 30.5 ms"; "" if the report has none.
std::string IntervalAt(const Json& report, std::string_view path, std::string_view unit, double scale = 1);
// The short title of an output; "" if the path is not an output.
std::string_view BriefTitle(std::string_view path);

}  // namespace slipstick
