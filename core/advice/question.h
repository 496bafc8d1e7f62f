// A question of advice: a part of the scenario, the figure to improve, limits.
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
  std::string figure;  // the objective's path in a report
  bool larger_is_better = false;
  std::string second;  // decides between equal gains, and alone for changes that leave the objective as it is; "" if
                       // there is none
  std::vector<Condition> limits;
  std::vector<std::string> mapping_limits;  // those of `limits` that a search of mappings understands too
  std::size_t top = 10;
};

// `json`: {"for"?, "objective"?, "top"?, "limits"?}; a member "request" is not read. `request` is complete: a part that
// it leaves out cannot be asked for. Defaults: training where it is on, its time to train; serving by its cost per
// token, or by its throughput per device where cost is off.
Result<AdviceQuestion> ReadAdviceQuestion(const Json& json, const Json& request);

// Limits that are no figures of a report: "power" of the facility and "budget", the total cost of ownership.
inline constexpr const char* kPowerLimit = "power";
inline constexpr const char* kBudgetLimit = "budget";

}  // namespace slipstick
