// Cost inputs and reports of catalogue entries, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/economics/cost.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// A scenario of assignments ("cluster=dgx-h100", "cost.lifetime=3 year") over the default one, with the cost question.
inline Scenario ScenarioOf(const std::vector<std::string>& assignments) {
  Result<Json> request = ReadRequest("", assignments);
  if (!request) {
    for (const Issue& issue : request.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
    return {};
  }
  (*request)["training"] = nullptr;
  (*request)["serving"] = nullptr;
  Result<Scenario> scenario = ParseScenario(*request);
  if (!scenario) {
    for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
    return {};
  }
  return *scenario;
}

inline CostReport CostOf(const std::vector<std::string>& assignments) {
  const Scenario scenario = ScenarioOf(assignments);
  return EvaluateCost(scenario.cluster, *scenario.cost);
}

inline Dollars LineOf(const std::vector<BillLine>& lines, const std::string& name) {
  Dollars sum;
  for (const BillLine& line : lines) {
    if (line.name.find(name) != std::string::npos) sum += line.cost;
  }
  return sum;
}

inline Dollars SumOf(const std::vector<BillLine>& lines) {
  Dollars sum;
  for (const BillLine& line : lines) sum += line.cost;
  return sum;
}

}  // namespace slipstick
