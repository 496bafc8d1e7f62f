// A scenario judged by a question of advice: its figures, and whether it is feasible and within the limits.
#pragma once

#include <set>
#include <string>

#include "core/advice/question.h"
#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

struct JudgedScenario {
  bool is_feasible = false;        // the part in question is feasible
  bool is_within = true;           // all limits are met
  std::set<std::string> warnings;  // the report's, without their numbers, which differ between mappings
  double value = 0;                // value of the objective
  double second = 0;               // value of the second figure; 0 if there is none
  double system_usd = 0;           // total cost of ownership; 0 without the cost part
  Json figures;                    // path -> number of the report, or null
  Json report;                     // figures only
  Json scenario;                   // resolved
  [[nodiscard]] bool IsAnswer() const { return is_feasible && is_within; }
};

// Returns issues if the scenario is contradictory. `request` must be complete.
Result<JudgedScenario> Judge(const Json& request, const AdviceQuestion& question);

// Factor by which one value of the objective is better than another.
double GainOf(const AdviceQuestion& question, double before, double after);

}  // namespace slipstick
