#include "core/scenario/scenario.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "core/catalogue/presets.h"
#include "core/operators/efficiency.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/data_sheet_rules.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/estimated_costs.h"
#include "core/scenario/legal_defaults.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// An unknown preset is one fault: members that it would have given are not missing as well.
bool FollowsFrom(const Issue& issue, const Issues& unknown_presets) {
  return std::any_of(unknown_presets.begin(), unknown_presets.end(), [&](const Issue& preset) {
    const std::string owner = preset.path.substr(0, preset.path.size() - std::string_view("preset").size());
    return issue.path == preset.path || (issue.path.starts_with(std::string_view(owner)) && issue.message.starts_with("is needed"));
  });
}

// The object at a path of members; null where there is none.
Json* ObjectAt(Json& request, std::initializer_list<const char*> members) {
  Json* at = &request;
  for (const char* member : members) {
    const auto found = at->find(member);
    if (found == at->end() || !found->is_object()) return nullptr;
    at = &*found;
  }
  return at;
}

// What a device of a request need not say, or no longer says rightly.
void DropDerivedValues(Json* device) {
  if (device == nullptr) return;
  DropRuleDerivedValues(*device);
  // What a program can allocate follows from the capacity: a request that changes only the capacity drops the preset's figure.
  Json* memory = ObjectAt(*device, {"memory"});
  if (memory != nullptr && memory->contains("capacity") && !memory->contains("usable")) (*memory)["usable"] = nullptr;
}

// A network technology that the request names takes the place of what the cluster's preset says of that level, with the
// request's own members over it; so it is merged in before the two are merged.
void ApplyNetworkPresets(Json& request, Issues& issues) {
  const auto cluster = request.find("cluster");
  if (cluster == request.end() || !cluster->is_object()) return;
  const auto networks = cluster->find("networks");
  if (networks == cluster->end() || !networks->is_array()) return;
  for (std::size_t i = 0; i < networks->size(); ++i) {
    Json& level = (*networks)[i];
    if (level.is_string()) level = Json{{"preset", level}};
    if (!level.is_object() || !level.contains("preset") || !level["preset"].is_string()) continue;
    const Json* entry = FindPreset("network", TextOf(level["preset"]));
    if (entry == nullptr) {
      const std::string path = "cluster.networks." + std::to_string(i) + ".preset";
      issues.push_back({path, "there is no network " + internal::Shown(level["preset"]),
                        SetToEach(path, NearestPresets("network", TextOf(level["preset"])))});
      level.erase("preset");
      continue;
    }
    Json merged = WithoutRemarks(*entry);
    MergeJson(merged, level);
    merged.erase("preset");
    level = std::move(merged);
  }
}

// Everything but what concerns the parts among each other.
Result<Scenario> ReadScenario(Json expanded) {
  Issues issues;
  if (!expanded.is_object()) return Issues{{"", "expected an object; got " + internal::Shown(expanded)}};
  expanded.erase("written");
  DropDerivedValues(ObjectAt(expanded, {"cluster", "device"}));
  DropDerivedValues(ObjectAt(expanded, {"serving", "disaggregated", "prefill_device"}));
  ApplyNetworkPresets(expanded, issues);
  if (auto cluster = expanded.find("cluster"); cluster != expanded.end()) {
    ExpandPresets<Cluster>(*cluster, "cluster", FindPreset, NearestPresets, issues);
    if (!expanded.contains("cost")) expanded["cost"] = Json::object();
    ApplyCostDefaults(expanded["cluster"], expanded["cost"]);
  }
  // The cluster is set aside: once is enough.
  Json cluster = expanded.contains("cluster") ? std::move(expanded["cluster"]) : Json();
  ExpandPresets<Scenario>(expanded, "", FindPreset, NearestPresets, issues);
  if (expanded.contains("cluster") && !cluster.is_null()) expanded["cluster"] = std::move(cluster);
  Scenario scenario;
  Issues faults;
  Read(expanded, "", faults, scenario);
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(issues),
               [unknown_presets = issues](const Issue& fault) { return !FollowsFrom(fault, unknown_presets); });
  if (!issues.empty()) return issues;
  if (scenario.cost) scenario.cost->assumed = EstimatedCosts(expanded["cost"]);
  return scenario;
}

// The smallest mapping, which a search replaces.
void ResetMapping(Scenario& scenario, const Written& written, std::string_view part) {
  if (part == "training" && scenario.training) {
    TrainingMapping& mapping = scenario.training->mapping;
    TrainingMapping smallest;
    smallest.cp_kind = mapping.cp_kind;
    smallest.order = mapping.order;
    smallest.overlap = mapping.overlap;
    mapping = smallest;
  }
  if (part == "serving" && scenario.serving) {
    ServingLoad& load = *scenario.serving;
    const bool follows = !load.devices || written.IsDefault("serving.devices");
    if (load.disaggregated && follows) load.devices = load.disaggregated->prefill_devices + load.disaggregated->decode_devices;
    load.disaggregated.reset();
    load.mapping = {};
  }
}

// Model, cluster and prices: what both runs rest on.
void ResolveSystem(Scenario& scenario, Issues& issues) {
  ValidateAndFillDefaults(scenario.model, "model", issues);
  BuildDesign(scenario.cluster, "cluster.device.design", issues);
  if (scenario.serving && scenario.serving->disaggregated && scenario.serving->disaggregated->prefill_device) {
    BuildDesign(*scenario.serving->disaggregated->prefill_device, "serving.disaggregated.prefill_device.design", issues);
  }
  if (scenario.cost && scenario.cluster.device.design) UpdateBillForDevice(scenario.cluster.device, scenario.cost->device);
  CompleteEfficiency(scenario.cluster.device);
}

void ResolveRuns(Scenario& scenario, Issues& issues) {
  if (scenario.training) ValidateAndFillDefaults(*scenario.training, scenario.model, scenario.cluster, "training", issues);
  if (scenario.serving) ValidateAndFillDefaults(*scenario.serving, scenario.model, scenario.cluster, "serving", issues);
}

}  // namespace

void Resolve(Scenario& scenario, Issues& issues) {
  ResolveSystem(scenario, issues);
  // What a part is completed by must be sound first.
  if (issues.empty()) ResolveRuns(scenario, issues);
}

Result<Scenario> ParseScenario(Json request) {
  const Written written(request);
  Result<Scenario> scenario = ReadScenario(std::move(request));
  if (!scenario) return scenario;
  Issues issues;
  ResolveSystem(*scenario, issues);
  if (!issues.empty()) return issues;
  ApplyLegalDefaults(*scenario, written);
  ResolveRuns(*scenario, issues);
  if (!issues.empty()) return issues;
  return scenario;
}

Result<Scenario> ParseForSearch(Json request, std::string_view part) {
  const Written written(request);
  Result<Scenario> scenario = ReadScenario(std::move(request));
  if (!scenario) return scenario;
  Issues issues;
  ResolveSystem(*scenario, issues);
  if (!issues.empty()) return issues;
  ResetMapping(*scenario, written, part);
  ApplyLegalDefaults(*scenario, written, part);
  ResetMapping(*scenario, written, part);  // what followed is no part of the space either
  ResolveRuns(*scenario, issues);
  // One sequence on every device need not divide the batch: the space holds what does.
  issues.erase(std::remove_if(issues.begin(), issues.end(),
                              [&](const Issue& issue) { return part == "training" && issue.path == "training.global_batch"; }),
               issues.end());
  if (!issues.empty()) return issues;
  return scenario;
}

}  // namespace slipstick
