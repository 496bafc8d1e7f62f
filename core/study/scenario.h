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
  static constexpr auto fields = std::tuple{Of("version", &Scenario::version, "Version of these names").Between(1, 1),
                                            Of("model", &Scenario::model, "What is trained and served"),
                                            Of("cluster", &Scenario::cluster, "What it runs on"),
                                            Of("training", &Scenario::training, "How it is trained; null: not asked"),
                                            Of("serving", &Scenario::serving, "How it is served; null: not asked"),
                                            Of("cost", &Scenario::cost, "What it costs; null: not asked")};
};

// The scenario that the page opens with, as a request.
const Json& DefaultRequest();

// "training.mapping.tp=8" -> {path, value}; the value is read as JSON where it is JSON, as text otherwise.
struct Assignment {
  std::string path;
  Json value;
};
Result<Assignment> ParseAssignment(std::string_view text);

// Lays assignments over a request; "model=llama-3.1-8b" is short for "model.preset=llama-3.1-8b".
void Apply(Json& request, const std::vector<Assignment>& assignments);

// A request as it is evaluated: the default scenario where the text is empty, parts that it does not mention taken from
// the default scenario, assignments ("PATH=VALUE") laid over it.
Result<Json> ReadRequest(std::string_view text, const std::vector<std::string>& assignments);
Result<Json> CompleteRequest(Json request);

// The only maker of a Scenario: presets expanded, members read and checked, contradictions between them found.
Result<Scenario> ParseScenario(Json request);
// The same for a search, which chooses the mapping of a part ("training" or "serving"): the one that is written need not suit.
Result<Scenario> ParseForSearch(Json request, std::string_view part);

// Checks a scenario that was put together by code (search, sweeps) as ParseScenario does, and fills what is derived.
void Resolve(Scenario& scenario, Issues& issues);

}  // namespace slipstick
