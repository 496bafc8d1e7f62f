// Answers of commands for people, from their JSON.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// Of evaluate: the four answers, the breakdown of time, memory and money, and warnings.
std::string ReportText(std::string_view json, bool is_colored);
std::string SearchText(std::string_view json, bool is_colored);
std::string SizeText(std::string_view json, bool is_colored);
std::string ReplayText(std::string_view json, bool is_colored);
std::string AdviceText(std::string_view json, bool is_colored);
std::string CompareText(std::string_view json, bool is_colored);
std::string SolveText(std::string_view json, bool is_colored);
std::string SensitivityText(std::string_view json, bool is_colored);
std::string DesignText(std::string_view json, bool is_colored);
std::string StudyText(std::string_view json, bool is_colored);
std::string DescribeText(std::string_view json, bool is_colored);
std::string PresetsText(std::string_view json, bool is_colored);

}  // namespace slipstick
