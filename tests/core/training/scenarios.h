// Training scenarios in JSON, as users write them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/scenario/parse_scenario.h"
#include "core/scenario/scenario.h"
#include "core/training/recompute.h"
#include "core/training/training.h"
#include "core/training_stage/stage.h"
#include "tests/support/explained_part.h"

namespace slipstick {

// A training scenario; the test fails if it is invalid.
inline Scenario TrainingScenario(const std::string& model, const std::string& cluster, const std::string& training) {
  const Result<Json> request = ParseJson(R"({"model": )" + model + R"(, "cluster": )" + cluster + R"(, "training": )" +
                                         training + R"(, "serving": null, "cost": null})");
  EXPECT_TRUE(request) << training;
  const Result<Scenario> scenario = ParseScenario(*request);
  EXPECT_TRUE(scenario) << (scenario.issues.empty()
                                ? ""
                                : scenario.issues.front().path + ": " + scenario.issues.front().message);
  return scenario ? *scenario : Scenario{};
}

inline Issues TrainingIssues(const std::string& model, const std::string& cluster, const std::string& training) {
  const Result<Json> request = ParseJson(R"({"model": )" + model + R"(, "cluster": )" + cluster + R"(, "training": )" +
                                         training + R"(, "serving": null, "cost": null})");
  EXPECT_TRUE(request) << training;
  return ParseScenario(*request).issues;
}

inline TrainingReport Evaluated(const Scenario& scenario, bool timeline = false) {
  return EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, timeline});
}

// The explanation of a scenario's report.
inline std::vector<FigureRecord> Explained(const Scenario& scenario) {
  Tape tape;
  TrainingPart part;
  static_cast<TrainingReport&>(part) =
      EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {true, true}, &tape);
  part.cost_efficiency = CostEfficiencyOf(nullptr, part, *scenario.training, &tape);
  return ExplainedPart(part);
}

// The pipeline stages of a training scenario.
inline std::vector<Stage> StagesOf(const Scenario& scenario) {
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  return PlanLayers(context, WorksOf(context)).stages;
}

// GPT of Korthikanti et al. 2022: s 2048, V 51200, f 4h.
inline std::string Gpt(int layers, int hidden, int heads) {
  return R"({"layers": )" + std::to_string(layers) + R"(, "hidden": )" + std::to_string(hidden) + R"(, "heads": )" +
         std::to_string(heads) + R"(, "ffn": )" + std::to_string(4 * hidden) +
         R"(, "vocab": 51200, "gated": false, "norm": "layer", "biases": "all", "position": "learned", "tied_embeddings": true})";
}

}  // namespace slipstick
