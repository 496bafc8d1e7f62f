// "PATH<=VALUE" and "PATH>=VALUE": conditions of solves and limits of searches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/units.h"

namespace slipstick {

// A condition on a figure: "training.step_time_s<=30", "serving.feasible>=1".
struct Condition {
  std::string path;
  bool at_most = true;
  Measure bound;
  std::string other;  // replaces the number: a figure of the reference scenario, "cost.device_usd<=cost.device_usd"
};
Result<Condition> ParseCondition(std::string_view text);

// Converts the bound to the report's unit of the condition's figure; an issue if its dimension is another.
Issues MatchUnit(Condition& condition, const std::string& figure);

// Conditions on figures, separated by commas. A comma before a digit groups thousands: "3,450 token/s".
Result<std::vector<Condition>> ParseConditions(std::string_view text);

}  // namespace slipstick
