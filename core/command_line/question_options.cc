#include "core/command_line/question_options.h"

#include <cmath>
#include <utility>

#include "core/base/units.h"

namespace slipstick {
namespace {

// A number in base units, or a text with its unit. Percentiles are given by name.
Json ValueOf(std::string_view member, const std::string& text) {
  Result<Json> json = ParseJson(text);
  const bool is_number = json && json->is_number();
  if (member == "budget_per_hour" && is_number) return text + " $/h";
  return is_number && member != "percentile" ? std::move(*json) : Json(text);
}

}  // namespace

std::optional<Count> WholeNumber(std::string_view text, Count low, Count high) {
  const std::optional<Measure> measure = ParseMeasure(text);
  if (!measure || measure->has_unit || measure->value != std::floor(measure->value)) return std::nullopt;
  if (measure->value < static_cast<double>(low) || measure->value > static_cast<double>(high)) return std::nullopt;
  return static_cast<Count>(measure->value);
}

Json QuestionOf(std::span<const QuestionOption> asked, const std::map<std::string, std::string>& options) {
  Json question = Json::object();
  for (const QuestionOption& one : asked) {
    const std::string& text = options.at(std::string(one.option));
    if (!text.empty()) question[one.member] = ValueOf(one.member, text);
  }
  return question;
}

}  // namespace slipstick
