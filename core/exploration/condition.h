// "PATH<=VALUE" and "PATH>=VALUE": conditions of solves and limits of searches.
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
  std::string other;  // replaces the number: a figure of the reference scenario, "cost.device_usd<=cost.device_usd"
};
Result<Condition> ParseCondition(std::string_view text);

}  // namespace slipstick
