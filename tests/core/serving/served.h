// Serving reports of scenarios written as assignments.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "core/serving/serving.h"
#include "tests/support/explained_part.h"

namespace slipstick {

inline Result<Scenario> ScenarioOf(const std::vector<std::string>& assignments) {
  Json request = {{"version", 1}, {"training", nullptr}, {"cost", nullptr}, {"serving", Json::object()}};
  std::vector<Assignment> parsed;
  for (const std::string& text : assignments) parsed.push_back(*ParseAssignment(text));
  Apply(request, parsed);
  return ParseScenario(request);
}

// The report of a valid scenario. If `tape` is null, its numbers are not recorded.
inline ServingReport Serve(const std::vector<std::string>& assignments, bool operators = false, Tape* tape = nullptr) {
  const Result<Scenario> scenario = ScenarioOf(assignments);
  if (!scenario) {
    for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
    return {};
  }
  return EvaluateServing(scenario->model, scenario->cluster, *scenario->serving, operators, tape);
}

// The explanation of a scenario's report.
inline std::vector<FigureRecord> ExplainedServing(const std::vector<std::string>& assignments) {
  Tape tape;
  ServingPart part;
  static_cast<ServingReport&>(part) = Serve(assignments, false, &tape);
  part.cost_efficiency = CostEfficiencyOf(nullptr, part);
  return ExplainedPart(part);
}

// Appends assignments.
inline std::vector<std::string> operator+(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace slipstick
