// A question for advice: a part of the scenario, the figure to improve, limits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/exploration/condition.h"

namespace slipstick {

struct AdviceQuestion {
  std::string part;    // "training" or "serving"
  std::string figure;  // path of the objective in a report
  bool larger_is_better = false;
  std::string second;  // decides between equal gains, and for changes that leave the objective unchanged; "" if
                       // there is none
  std::vector<Condition> limits;
  std::vector<std::string> mapping_limits;  // the part of `limits` that a search over mappings also supports
  std::size_t top = 10;
};

// `json`: {"for"?, "objective"?, "top"?, "limits"?}; a member "request" is ignored. `request` must be complete: a part
// that it leaves out cannot be the subject. Defaults: training if it is on, with its time to train; otherwise serving,
// with its cost per token, or its throughput per device if cost is off.
Result<AdviceQuestion> ReadAdviceQuestion(const Json& json, const Json& request);

// Limits that are not figures of a report: "power" of the facility and "budget", the total cost of ownership.
inline constexpr const char* kPowerLimit = "power";
inline constexpr const char* kBudgetLimit = "budget";

}  // namespace slipstick
