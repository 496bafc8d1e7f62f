// A report for people: the four answers, the breakdown of time, memory and money, and warnings.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// `report`: JSON, as from evaluate.
std::string ReportText(std::string_view answer, bool is_colored);

}  // namespace slipstick
