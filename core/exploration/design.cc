#include "core/exploration/design.h"

#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/report.h"
#include "core/scenario/answer.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// The catalogue's designs: feasible splits to start from.
std::vector<ChipDesign> KnownDesigns() {
  std::vector<ChipDesign> designs;
  for (const Json& entry : PresetCatalogue("chip_design")) {
    Json json{{"preset", entry["id"]}};
    Issues issues;
    ChipDesign design;
    ExpandPresets<ChipDesign>(json, "", FindPreset, NearestPresets, issues);
    Read(json, "", issues, design);
    if (issues.empty()) designs.push_back(std::move(design));
  }
  return designs;
}

}  // namespace

std::optional<Scenario> WithAnySplit(const Json& request) {
  // A growing share of the die for the memory interfaces.
  for (const double memory : {0.2, 0.35, 0.5, 0.65}) {
    Json trial = request;
    const Json splits{
        {"area_split", {{"core", 0.85 - memory - 0.1}, {"l2", 0.06}, {"memory", memory}, {"network", 0.04}}},
        {"edge_split", {{"memory", 0.7}, {"network", 0.2}}}};
    SetPath(trial, "cluster.device.design.area_split", splits["area_split"]);
    SetPath(trial, "cluster.device.design.edge_split", splits["edge_split"]);
    Result<Scenario> scenario = ParseScenario(trial);
    if (scenario) return std::move(*scenario);
  }
  return std::nullopt;
}

std::optional<Optimised> OptimiseDesign(const Scenario& scenario, std::string_view figure,
                                        const OptimiseOptions& options) {
  if (!scenario.cluster.device.design) return std::nullopt;
  // Evaluates only the part of the report with the figure.
  Scenario trial = scenario;
  const std::string_view part = figure.substr(0, figure.find('.'));
  if (part == "training") trial.serving.reset();
  if (part == "serving") trial.training.reset();
  const Scenario base = trial;
  const double sign = IsLargerBetter(figure) ? -1 : 1;  // the optimizer looks for the smallest
  const auto objective = [&](const ChipDesign& design) -> std::optional<double> {
    trial = base;
    trial.cluster.device.design = design;
    Issues issues;
    Resolve(trial, issues);
    if (!issues.empty()) return std::nullopt;
    const Result<Json> report = Evaluate(trial, ReportDetail::Figures());
    const std::optional<double> feasible = NumberAt(*report, std::string(part) + ".feasible");
    const std::optional<double> value = feasible && *feasible > 0 ? NumberAt(*report, figure) : std::nullopt;
    return value ? std::optional(sign * *value) : std::nullopt;
  };
  std::optional<Optimised> best = OptimiseSplit(*scenario.cluster.device.design, KnownDesigns(), objective, options);
  if (best) {
    best->objective *= sign;
    best->start_objective *= sign;
  }
  return best;
}

Answer DesignAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure) {
  const Result<Json> json = ReadRequest(request, assignments);
  if (!json) return WrongRequest(json.issues);
  const Result<Scenario> scenario = ParseScenario(*json);
  if (!scenario) return WrongRequest(scenario.issues);
  if (!scenario->cluster.device.design)
    return WrongRequest({{"cluster.device.design", "Required: only a chip design has a split to optimize"}});
  const std::optional<Optimised> best = OptimiseDesign(*scenario, figure, {});
  if (!best) return WrongRequest({{std::string(figure), "No split gives a feasible report with this figure"}});
  Json overrides = Json::object();
  const Json splits{{"area_split", Write(best->design.area_split)},
                    {"power_split", Write(best->design.power_split)},
                    {"edge_split", Write(best->design.edge_split)}};
  for (const auto& [budget, shares] : splits.items()) {
    const std::string path = JoinPath("cluster.device.design", budget);
    for (const auto& [share, value] : shares.items()) overrides[JoinPath(path, share)] = value;
  }
  return {JsonText(Json{{"figure", figure},
                        {"objective", best->objective},
                        {"start", best->start_objective},
                        {"evaluations", best->evaluations},
                        {"overrides", std::move(overrides)}}),
          {}};
}

}  // namespace slipstick
