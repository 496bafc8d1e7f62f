// A whole search, and checks of its answer.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {

inline Json Searched(const Json& request, const SearchSpec& spec) {
  const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, spec);
  EXPECT_TRUE(job) << (job ? "" : job.issues[0].path + ": " + job.issues[0].message);
  if (!job) return {};
  while ((*job)->Step(1000)) {
  }
  return (*job)->Report();
}

// The mapping found, set as assignments, is a scenario with the figures found.
inline void ExpectOverridesGiveTheFigures(const Json& request, const Json& report, const std::string& part) {
  ASSERT_FALSE(report["best"].empty());
  for (const char* list : {"best", "pareto"}) {
    for (const Json& entry : report[list]) {
      const Result<Scenario> scenario = ParseScenario(WithOverrides(request, entry["overrides"]));
      ASSERT_TRUE(scenario) << JsonText(entry) << scenario.issues[0].path << ": " << scenario.issues[0].message;
      const Result<Json> evaluated = Evaluate(*scenario, ReportDetail::Figures());
      const Json& found = (*evaluated)[part];
      EXPECT_TRUE(found["feasible"].get<bool>()) << JsonText(entry);
      for (const auto& [key, figure] : entry.items()) {
        if (!found.contains(key)) continue;
        EXPECT_NEAR(figure.get<double>() / found[key].get<double>(), 1, 1e-12) << key << " of " << JsonText(entry);
      }
    }
  }
}

}  // namespace slipstick
