// One scenario: model, cluster, and up to three questions about them, checked as a whole.
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

// The only maker of a Scenario: presets expanded, members read and checked, what nobody wrote moved to where it is legal,
// contradictions between the rest found.
Result<Scenario> ParseScenario(Json request);
// The same for a search, which chooses the mapping of a part ("training" or "serving"): the one that is written need not suit.
Result<Scenario> ParseForSearch(Json request, std::string_view part);

// Checks a scenario that was put together by code (search, sweeps) as ParseScenario does, and fills what is derived.
void Resolve(Scenario& scenario, Issues& issues);

}  // namespace slipstick
