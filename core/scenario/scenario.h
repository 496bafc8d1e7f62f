// A scenario: model, cluster, and the questions asked of them (training, serving, cost), checked as a whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/schema.h"
#include "core/economics/cost_inputs.h"
#include "core/hardware/cluster.h"
#include "core/scenario/request.h"
#include "core/serving/serving_load.h"
#include "core/training/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

struct Scenario {
  Count version = 1;
  Model model;
  Cluster cluster;
  std::optional<TrainingRun> training = TrainingRun{};
  std::optional<ServingLoad> serving = ServingLoad{};
  std::optional<CostInputs> cost = CostInputs{};
};
template <>
struct Schema<Scenario> {
  static const Fields fields;
};

// The only way from a request to a Scenario: expands presets, reads and checks members, moves unwritten defaults to legal
// values, and reports contradictions between the rest.
Result<Scenario> ParseScenario(Json request);
// For a search over the mapping of a part ("training" or "serving"): the written mapping need not be legal.
Result<Scenario> ParseForSearch(Json request, std::string_view part);

// Checks a scenario built by code (search, sweeps) as ParseScenario does, and fills derived members.
void Resolve(Scenario& scenario, Issues& issues);

}  // namespace slipstick
