#include "core/study/scenario.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "core/operators/efficiency.h"
#include "core/serving/serving.h"
#include "core/study/cost_defaults.h"
#include "core/study/presets.h"
#include "core/technology/engine.h"
#include "core/training/training.h"

namespace slipstick {

const Json& DefaultRequest() {
  static const Json request = *ParseLasting(R"({
    "version": 1,
    "model": {"preset": "llama-3.1-70b"},
    "cluster": {"preset": "dgx-h100", "devices": 512},
    "training": {"sequence": 8192, "global_batch": 512, "tokens": "15 Ttoken", "recompute": "none", "precision": "bf16",
                 "framework": {"preset": "megatron"},
                 "mapping": {"tp": 8, "pp": 4, "cp": 1, "ep": 1, "virtual_stages": 5, "micro_batch": 1, "zero": 1,
                             "sequence_parallel": true}},
    "serving": {"prompt": 2048, "output": 256, "batch": 32, "devices": 8, "engine": {"preset": "vllm"},
                "precision": {"weights": "fp8", "activations": "fp8", "kv_cache": "bf16"},
                "mapping": {"tp": 8, "pp": 1, "ep": 1}},
    "cost": {"electricity": "0.08 $/kWh", "lifetime": "4 year"}
  })");
  return request;
}

Result<Assignment> ParseAssignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Issues{{"", "expected PATH=VALUE; got " + internal::Shown(Json(std::string(text)))}};
  }
  const std::string path(text.substr(0, equals));
  const std::string_view value = text.substr(equals + 1);
  Result<Json> json = ParseJson(value);
  return Assignment{path, json ? std::move(*json) : Json(std::string(value))};
}

void Apply(Json& request, const std::vector<Assignment>& assignments) {
  for (const Assignment& one : assignments) {
    // A text where an object with a preset stands means that preset.
    const bool names_preset = one.value.is_string() && (one.path == "model" || one.path == "cluster" || one.path == "cluster.device" ||
                                                        one.path == "training.framework" || one.path == "serving.engine");
    if (names_preset) {
      // Another entry of the catalogue: what was overridden belonged to the old one.
      SetPath(request, one.path, Json{{"preset", one.value}});
    } else {
      SetPath(request, one.path, one.value);
    }
  }
}

Result<Json> CompleteRequest(Json request) {
  if (!request.is_object()) return Issues{{"", "expected an object; got " + internal::Shown(request)}};
  // A part that the request does not mention is the default scenario's; null means not asked.
  for (const auto& [key, value] : DefaultRequest().items()) {
    if (!request.contains(key)) request[key] = value;
  }
  return request;
}

Result<Json> ReadRequest(std::string_view text, const std::vector<std::string>& assignments) {
  Result<Json> json = DefaultRequest();
  if (!text.empty()) json = ParseJson(text);
  if (json) json = CompleteRequest(std::move(*json));
  if (!json) return json;
  std::vector<Assignment> changes;
  Issues issues;
  for (const std::string& assignment : assignments) {
    Result<Assignment> one = ParseAssignment(assignment);
    if (one) {
      changes.push_back(std::move(*one));
    } else {
      issues.insert(issues.end(), one.issues.begin(), one.issues.end());
    }
  }
  if (!issues.empty()) return issues;
  Apply(*json, changes);
  return json;
}

namespace {

// An unknown preset is one fault: members that it would have given are not missing as well.
bool FollowsFrom(const Issue& issue, const Issues& unknown_presets) {
  if (!kExplains) return false;
  return std::any_of(unknown_presets.begin(), unknown_presets.end(), [&](const Issue& preset) {
    const Words owner = preset.path.substr(0, preset.path.size() - std::string_view("preset").size());
    return issue.path == preset.path || (issue.path.starts_with(std::string_view(owner)) && issue.message.starts_with("is needed"));
  });
}

}  // namespace

namespace {

// What a program can allocate follows from the capacity: a request that changes only the capacity drops the preset's figure.
void DropStaleUsable(Json& request, std::initializer_list<const char*> memory) {
  Json* at = &request;
  for (const char* member : memory) {
    const auto found = at->find(member);
    if (found == at->end() || !found->is_object()) return;
    at = &*found;
  }
  if (at->contains("capacity") && !at->contains("usable")) (*at)["usable"] = nullptr;
}

// A network technology that the request names takes the place of what the cluster's preset says of that level, with the
// request's own members over it; so it is laid in before the two are merged.
void LayNetworks(Json& request, Issues& issues) {
  const auto cluster = request.find("cluster");
  if (cluster == request.end() || !cluster->is_object()) return;
  const auto networks = cluster->find("networks");
  if (networks == cluster->end() || !networks->is_array()) return;
  for (std::size_t i = 0; i < networks->size(); ++i) {
    Json& level = (*networks)[i];
    if (level.is_string()) level = Json{{"preset", level}};
    if (!level.is_object() || !level.contains("preset") || !level["preset"].is_string()) continue;
    const Json* entry = FindPreset("network", level["preset"].text());
    if (entry == nullptr) {
      issues.push_back({kExplains ? Words("cluster.networks." + std::to_string(i) + ".preset") : Words(),
                        "there is no network " + internal::Shown(level["preset"]) + PresetHintText("network", level["preset"].text())});
      level.erase("preset");
      continue;
    }
    Json laid = *entry;
    for (const char* remark : {"sources", "note", "published"}) laid.erase(remark);
    MergeJson(laid, level);
    laid.erase("preset");
    level = std::move(laid);
  }
}

}  // namespace

namespace {

// Everything but what concerns the parts among each other.
Result<Scenario> ReadScenario(Json expanded) {
  Issues issues;
  if (!expanded.is_object()) return Issues{{"", "expected an object; got " + internal::Shown(expanded)}};
  DropStaleUsable(expanded, {"cluster", "device", "memory"});
  DropStaleUsable(expanded, {"serving", "disaggregated", "prefill_device", "memory"});
  LayNetworks(expanded, issues);
  if (auto cluster = expanded.find("cluster"); cluster != expanded.end()) {
    ExpandPresets<Cluster>(*cluster, "cluster", FindPreset, PresetHintText, issues);
    if (!expanded.contains("cost")) expanded["cost"] = Json::object();
    LayCostDefaults(expanded["cluster"], expanded["cost"]);
  }
  // The cluster is set aside: once is enough.
  Json cluster = expanded.contains("cluster") ? std::move(expanded["cluster"]) : Json();
  ExpandPresets<Scenario>(expanded, "", FindPreset, PresetHintText, issues);
  if (expanded.contains("cluster") && !cluster.is_null()) expanded["cluster"] = std::move(cluster);
  Scenario scenario;
  Issues faults;
  Read(expanded, "", faults, scenario);
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(issues),
               [unknown_presets = issues](const Issue& fault) { return !FollowsFrom(fault, unknown_presets); });
  if (!issues.empty()) return issues;
  return scenario;
}

// The least mapping, which a search replaces.
void FreeMapping(Scenario& scenario, std::string_view part) {
  if (part == "training" && scenario.training) {
    TrainingMapping& mapping = scenario.training->mapping;
    TrainingMapping least;
    least.cp_kind = mapping.cp_kind;
    least.order = mapping.order;
    least.overlap = mapping.overlap;
    mapping = least;
  }
  if (part == "serving" && scenario.serving) {
    ServingLoad& load = *scenario.serving;
    if (load.disaggregated && !load.devices) load.devices = load.disaggregated->prefill_devices + load.disaggregated->decode_devices;
    load.disaggregated.reset();
    load.mapping = {};
  }
}

}  // namespace

Result<Scenario> ParseScenario(Json request) {
  Result<Scenario> scenario = ReadScenario(std::move(request));
  if (!scenario) return scenario;
  Issues issues;
  Resolve(*scenario, issues);
  if (!issues.empty()) return issues;
  return scenario;
}

Result<Scenario> ParseForSearch(Json request, std::string_view part) {
  Result<Scenario> scenario = ReadScenario(std::move(request));
  if (!scenario) return scenario;
  FreeMapping(*scenario, part);
  Issues issues;
  Resolve(*scenario, issues);
  // One sequence on every device need not divide the batch: the space holds what does.
  issues.erase(std::remove_if(issues.begin(), issues.end(),
                              [&](const Issue& issue) { return part == "training" && issue.path == "training.global_batch"; }),
               issues.end());
  if (!issues.empty()) return issues;
  return scenario;
}

namespace {

// A designed device takes the place of the data sheet's: its network's rate, nothing where there is no design.
BytesPerSecond BuildDesign(Device& device, const std::string& path, Issues& issues) {
  if (!device.design) return {};
  Trace trace = Trace::Off();
  Result<DerivedChip> chip = Derive(*device.design, path, trace);
  if (!chip) {
    issues.insert(issues.end(), chip.issues.begin(), chip.issues.end());
    return {};
  }
  device.peak = chip->device.peak;
  device.units = chip->device.units;
  device.clock = chip->device.clock;
  device.memory = chip->device.memory;
  device.caches = chip->device.caches;
  device.tdp = chip->device.tdp;
  device.idle = chip->device.idle;
  device.die = chip->device.die;
  return chip->network;
}

// Every designed device; the links of the cluster's take the place of the innermost network's.
void BuildDesigns(Scenario& scenario, Issues& issues) {
  Cluster& cluster = scenario.cluster;
  const BytesPerSecond network = BuildDesign(cluster.device, "cluster.device.design", issues);
  if (!cluster.networks.empty() && network > 0 * kBps) cluster.networks[0].bandwidth = network;
  if (!scenario.serving || !scenario.serving->disaggregated || !scenario.serving->disaggregated->prefill_device) return;
  BuildDesign(*scenario.serving->disaggregated->prefill_device, "serving.disaggregated.prefill_device.design", issues);
}

}  // namespace

void Resolve(Scenario& scenario, Issues& issues) {
  Complete(scenario.model, "model", issues);
  BuildDesigns(scenario, issues);
  if (scenario.cost && scenario.cluster.device.design) FollowDevice(scenario.cluster.device, scenario.cost->device);
  CompleteEfficiency(scenario.cluster.device);
  // What a part is completed by must be sound first.
  if (!issues.empty()) return;
  if (scenario.training) Complete(*scenario.training, scenario.model, scenario.cluster, "training", issues);
  if (scenario.serving) Complete(*scenario.serving, scenario.model, scenario.cluster, "serving", issues);
}

}  // namespace slipstick
