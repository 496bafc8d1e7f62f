#include "core/exploration/condition.h"

#include <algorithm>
#include <optional>

#include "core/base/listed.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/report.h"

namespace slipstick {

Result<Condition> ParseCondition(std::string_view text) {
  const std::size_t less = text.find("<="), more = text.find(">=");
  const std::size_t at = std::min(less, more);
  if (at == std::string_view::npos || at == 0)
    return Issues{{"until", "Enter PATH<=VALUE or PATH>=VALUE, not " + std::string(text)}};
  const std::string_view right = text.substr(at + 2);
  const std::optional<Measure> bound = ParseMeasure(right);
  const bool is_path = right.find('.') != std::string_view::npos && right.find_first_of("0123456789") != 0;
  if (!bound && !is_path)
    return Issues{{"until", "Enter a number after " + std::string(text.substr(at, 2)) + ", not " + std::string(right)}};
  return Condition{std::string(text.substr(0, at)), at == less, bound.value_or(Measure{}),
                   bound ? "" : std::string(right)};
}

Issues MatchUnit(Condition& condition, const std::string& figure) {
  Result<double> bound = ReportedValue(condition.bound, figure);
  if (!bound) return std::move(bound.issues);
  condition.bound = Measure{.value = *bound};
  return {};
}

namespace {

// Checks that the figures exist and that both sides have one dimension.
Issues Check(Condition& condition) {
  for (const std::string& path : {condition.path, condition.other}) {
    if (!path.empty() && !IsReportPath(path)) return {UnknownOutput("until", path)};
  }
  if (condition.other.empty()) return MatchUnit(condition, condition.path);
  if (OneUnitOf(condition.path).dimension == OneUnitOf(condition.other).dimension) return {};
  return {{"until", condition.path + " and " + condition.other + " have different units"}};
}

}  // namespace

Result<std::vector<Condition>> ParseConditions(std::string_view text) {
  if (text.empty()) return Issues{{"until", "Enter a condition, such as serving.tpot_s<=20 ms"}};
  std::vector<std::string> texts;
  for (std::string& part : SplitAt(text, ',')) {
    const bool groups_thousands = !texts.empty() && part.find_first_of("0123456789") == 0;
    groups_thousands ? texts.back() += "," + part : texts.emplace_back(std::move(part));
  }
  std::vector<Condition> conditions;
  for (const std::string& part : texts) {
    Result<Condition> one = ParseCondition(part);
    if (!one) return std::move(one.issues);
    if (Issues wrong = Check(*one); !wrong.empty()) return wrong;
    conditions.push_back(std::move(*one));
  }
  return conditions;
}

}  // namespace slipstick
