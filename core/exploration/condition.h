// "PATH<=VALUE" and "PATH>=VALUE": what a solution looks for and what a search is limited by.
#pragma once

#include <string>
#include <string_view>

#include "core/base/issue.h"

namespace slipstick {

// A condition on a figure: "training.step_time_s<=30", "serving.feasible>=1".
struct Condition {
  std::string path;
  bool at_most = true;
  double bound = 0;
  std::string other;  // a figure instead of a number, "cost.device_usd<=cost.device_usd": of the scenario compared with
};
Result<Condition> ParseCondition(std::string_view text);

}  // namespace slipstick
