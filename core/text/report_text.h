// A report for people: the four answers, where time, memory and money go, warnings.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// `report`: JSON, as evaluate answers.
std::string ReportText(std::string_view answer, bool is_colored);

}  // namespace slipstick
