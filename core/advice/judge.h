// A scenario judged by a question of advice: its figures, and whether it is feasible and within the limits.
#pragma once

#include <set>
#include <string>

#include "core/advice/question.h"
#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

struct JudgedScenario {
  bool is_feasible = false;        // of the part in question
  bool is_within = true;           // the limits
  std::set<std::string> warnings;  // the report's, without their numbers, which differ between mappings
  double value = 0;                // of the objective
  double second = 0;               // of the second figure; 0 if there is none
  double system_usd = 0;           // total cost of ownership; 0 without the cost part
  Json figures;                    // path -> number of the report, or null
  Json report;                     // figures only
  Json scenario;                   // resolved
  [[nodiscard]] bool IsAnswer() const { return is_feasible && is_within; }
};

// The issues of a scenario that contradicts itself. `request` is complete.
Result<JudgedScenario> Judge(const Json& request, const AdviceQuestion& question);

// How many times better one value of the objective is than another.
double GainOf(const AdviceQuestion& question, double before, double after);

}  // namespace slipstick
