// Searches and tuning take few steps on common clusters, and end on the largest that a request may state.
#include <gtest/gtest.h>

#include <string>

#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/search/serving_tuner.h"
#include "core/search/training_tuner.h"

namespace slipstick {
namespace {

Scenario ScenarioOf(const std::string& model, const std::string& cluster, Count devices) {
  const std::string count = std::to_string(devices);
  const Result<Json> request = ReadRequest("", {"version=1", "model=" + model, "cluster=" + cluster,
                                                "cluster.devices=" + count, "serving.devices=" + count});
  EXPECT_TRUE(request);
  Result<Scenario> scenario = ParseScenario(*request);
  EXPECT_TRUE(scenario) << scenario.issues[0].path << ": " << scenario.issues[0].message;
  return std::move(*scenario);
}
TunedTraining TrainingOf(const Scenario& scenario) {
  TrainingRun run = *scenario.training;
  run.devices = scenario.cluster.devices;
  return TuneTraining(scenario.model, scenario.cluster, run, {{}, true, true});
}

TEST(Bounds, OrdinarySearchesStayFarBelowTheirBounds) {
  for (const char* model : {"llama-3.1-8b", "llama-3.1-405b", "deepseek-v3"}) {
    for (const Count devices : {8, 512, 1000}) {
      const TunedTraining tuned = TrainingOf(ScenarioOf(model, "dgx-h100", devices));
      EXPECT_LT(tuned.moves, kMostMoves / 20) << model << " on " << devices;
      EXPECT_LT(tuned.tried, 20'000) << model << " on " << devices;
    }
  }
}

// 14,414,400 has 504 divisors, more than any smaller number.
TEST(Bounds, TheMostDivisibleClusterIsTunedForTraining) {
  const TunedTraining tuned = TrainingOf(ScenarioOf("deepseek-v3", "dgx-h100", 14'414'400));
  EXPECT_LT(tuned.moves, kMostMoves);
  EXPECT_LT(tuned.tried, 20'000);
}

TEST(Bounds, TheMostDivisibleClusterIsTunedForServing) {
  const Scenario scenario = ScenarioOf("deepseek-v3", "dgx-h100", 14'414'400);
  const TunedServing tuned = TuneServing(scenario.model, scenario.cluster, *scenario.serving, {});
  EXPECT_TRUE(tuned.fits);
  EXPECT_LT(tuned.tried, 20'000);
}

}  // namespace
}  // namespace slipstick
