#include "core/scenario/parse_scenario.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "core/base/fix.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/scenario/auto_mapping.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/device_check.h"
#include "core/scenario/device_support.h"
#include "core/scenario/input_sources.h"
#include "core/scenario/legal_defaults.h"
#include "core/scenario/measured_system.h"
#include "core/scenario/network_presets.h"
#include "core/scenario/request.h"
#include "core/scenario/request_warnings.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// Whether a missing member would have come from an unknown preset; it is then not reported as missing.
bool FollowsFrom(const Issue& issue, const Issues& unknown_presets) {
  return std::any_of(unknown_presets.begin(), unknown_presets.end(), [&](const Issue& preset) {
    const std::string owner = preset.path.substr(0, preset.path.size() - std::string_view("preset").size());
    return issue.path == preset.path || (issue.path.starts_with(std::string_view(owner)) && issue.is_missing);
  });
}

// Drops members of a resolved device that are derived from others, so that they follow a changed member.
void DropDerivedValues(Json* device, Count version) {
  if (device == nullptr || !device->is_object()) return;
  DropRuleDerivedValues(*device, version >= 3 && HasDesign(*device));
  // Usable memory derives from the capacity: a request that changes only the capacity drops the preset's value.
  Json* memory = MemberAt(*device, "memory");
  if (memory != nullptr && memory->contains("capacity") && !memory->contains("usable")) (*memory)["usable"] = nullptr;
}

// Whether the request splits the device: one die without an I/O die, in the device's own package, is the device itself.
bool SplitsDevice(const Json& request) {
  const Json* partition = FindMember(request, "partition");
  if (partition == nullptr || !partition->is_object()) return false;
  const Json *chiplets = FindMember(*partition, "chiplets"), *io = FindMember(*partition, "io_share");
  const bool one = chiplets != nullptr && NumberIn(*chiplets) == 1;
  const bool no_io = io == nullptr || io->is_null() || NumberIn(*io) == 0;
  return !one || !no_io || IsSet(*partition, "package");
}

constexpr double kSameValue = 1e-9;  // relative difference of a value written with a unit and the same one without

// Sets the constants that explain measurements, if the scenario runs on the measured system and the request gives no
// other values; elsewhere a measurement changes nothing. False if there is none. `scenario`: as read from `expanded`.
bool MoveToMeasurements(const Scenario& scenario, Json& expanded) {
  InputValues moved;
  for (std::size_t i = 0; i < scenario.measured.size(); ++i) {
    const OwnMeasurement& own = scenario.measured[i];
    const Json* at = MemberAt(expanded, own.input);
    const bool is_set = at != nullptr && !at->is_null();
    const std::optional<Measure> read = is_set && at->is_string() ? ParseMeasure(TextOf(*at)) : std::nullopt;
    const std::optional<double> value = read ? read->value : NumberAt(expanded, own.input);
    const auto is_at = [&](double other) { return value && std::abs(*value - other) <= kSameValue * other; };
    const bool is_here = own.Moves() && own.system == SystemBehind(own.path, scenario);
    if (is_here && (!is_set || is_at(own.from))) {
      moved[own.input] = own.to;
    } else if (!is_here || !is_at(own.to)) {
      SetPath(expanded, "measured." + std::to_string(i) + ".from", 0);
    }
  }
  for (const auto& [path, value] : WithTied(std::move(moved), expanded)) SetPath(expanded, path, value);
  return !scenario.measured.empty();
}

// Sessions determine the prompt; a resolved scenario repeats it.
void FollowSessions(const Json& expanded, const Written& written, Scenario& scenario, Issues& issues) {
  if (!scenario.serving || !scenario.serving->sessions) return;
  ServingLoad& load = *scenario.serving;
  const Count prompt = MeanPrompt(*load.sessions, load.output);
  const bool is_written = !written.IsDefault("serving.prompt") && MemberAt(expanded, "serving.prompt") != nullptr;
  if (is_written && load.prompt != prompt) {
    issues.push_back(
        {"serving.prompt",
         "Follows from the sessions: " + GroupedText(static_cast<double>(prompt)) + " tokens, the mean of all turns",
         {SetTo("serving.prompt", prompt), LeaveOut("serving.sessions")}});
  }
  load.prompt = prompt;
}

// From version 3 on, a request for images or clips turns the other questions off, unless it states them.
void AskForDiffusionAlone(const Written& written, Json& expanded) {
  if (VersionOf(expanded) < 3 || !IsSet(expanded, "diffusion") || !written.IsUntouched("model")) return;
  for (const char* part : {"training", "serving"}) {
    if (written.IsUntouched(part)) expanded[part] = nullptr;
  }
}

// From version 3 on, evicted prefixes go to an SSD only if the request mentions one.
bool LacksSsd(const Json& request, const ServingLoad& load, Count version) {
  return version >= 3 && load.prefix_cache && !(load.prefix_cache->ssd_share > 0) &&
         !IsSet(request, "serving.prefix_cache.ssd_capacity") && !IsSet(request, "serving.prefix_cache.ssd_bandwidth");
}

// Explains that a diffusion transformer given as the model is neither trained nor served as a language model.
void ExplainDiffusionModels(const Json& request, Issues& issues) {
  for (Issue& issue : issues) {
    const Json* named = issue.path == "model.preset" ? MemberAt(request, issue.path) : nullptr;
    if (named == nullptr || !named->is_string() || FindPreset("diffusion_model", TextOf(*named)) == nullptr) continue;
    issue.message = "This model makes images or video and has no KV cache: set diffusion.model to it";
    Fix fix = SetTo("diffusion.model", TextOf(*named));
    fix.also = {{"training", "null"}, {"serving", "null"}, {"model", ""}};
    issue.fixes = {std::move(fix)};
  }
}

// Resets the mapping that a search will choose, and the split of devices of one kind between two pools.
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
    const bool is_default = !load.devices || written.IsDefault("serving.devices");
    if (load.disaggregated && is_default)
      load.devices = load.disaggregated->prefill_devices + load.disaggregated->decode_devices;
    if (PoolsOfTwoKinds(load) == nullptr) load.disaggregated.reset();
    const auto reset = [](ServingMapping& mapping) {
      ServingMapping smallest;
      smallest.overlap = mapping.overlap;
      mapping = smallest;
    };
    reset(load.mapping);
    if (load.disaggregated && load.disaggregated->prefill_mapping) reset(*load.disaggregated->prefill_mapping);
  }
}

// Runs on several devices need a network between them.
void CheckNetworks(const Scenario& scenario, Issues& issues) {
  const Count devices = scenario.cluster.devices;
  if (!scenario.cluster.networks.empty() || devices <= 1 ||
      !(scenario.training || scenario.serving || scenario.diffusion))
    return;
  const std::string_view joined = TextOf(DefaultRequest(1)["cluster"]["preset"]);
  issues.push_back({"cluster.networks",
                    "Add a network level: " + GroupedText(static_cast<double>(devices)) + " devices need one",
                    {SetTo("cluster.devices", 1), SetTo("cluster.preset", joined)}});
}

// Checks for memory that the links between dies leave unreachable.
void CheckDieLinks(const Scenario& scenario, Issues& issues) {
  const bool runs = scenario.training || scenario.serving || scenario.diffusion;
  if (!scenario.partition || !runs || scenario.cluster.device.memory.bandwidth > BytesPerSecond{}) return;
  issues.push_back(LinksWithoutBandwidth(*scenario.partition));
}

// Completes model, cluster and prices, on which both runs depend.
void ResolveSystem(Scenario& scenario, Issues& issues) {
  ValidateAndFillDefaults(scenario.model, "model", issues);
  const std::optional<Partition>& partition = scenario.partition;
  const auto chip = BuildDesign(scenario.cluster, partition, "cluster.device.design", issues);
  if (partition && !scenario.cluster.device.design) SplitDevice(*partition, scenario.cluster.device);
  CheckDevice(scenario.cluster.device, "cluster.device", issues);
  if (scenario.serving && PoolsOfTwoKinds(*scenario.serving) != nullptr) {
    const std::string path = "serving.disaggregated.prefill_device";
    Device& prefill_device = *scenario.serving->disaggregated->prefill_device;
    const auto prefill_chip = BuildDesign(prefill_device, std::nullopt, path + ".design", issues);
    if (scenario.cost && scenario.cost->prefill_pool && prefill_chip)
      UpdateBillForDevice(prefill_device, *prefill_chip, std::nullopt, scenario.cost->prefill_pool->device);
    CheckDevice(prefill_device, path, issues);
    LimitMemory(prefill_device);
    const bool is_same = prefill_device.preset == scenario.cluster.device.preset;
    scenario.serving->disaggregated->prefill_networks =
        is_same ? std::vector<NetworkLevel>() : NetworksOfServer(prefill_device);
  }
  if (scenario.cost) {
    if (chip) UpdateBillForDevice(scenario.cluster.device, *chip, partition, scenario.cost->device);
    CheckUnits(scenario.cost->device, "cost.device", issues);
    if (scenario.cost->prefill_pool)
      CheckUnits(scenario.cost->prefill_pool->device, "cost.prefill_pool.device", issues);
  }
  CheckPackage(partition, scenario.cluster.device, scenario.cost, issues);
  CheckNetworks(scenario, issues);
  CheckDieLinks(scenario, issues);
  CompleteEfficiency(scenario.cluster.device);
  LimitMemory(scenario.cluster.device);
}

// Checks the shares of chip designs; a search for the best split also tries shares beyond the budgets, as a bound.
void CheckDesigns(const Scenario& scenario, Issues& issues) {
  const auto check = [&issues](const Device& device, const std::string& path) {
    if (!device.design) return;
    const Issues overspent = OverspentBudgets(*device.design, path);
    issues.insert(issues.end(), overspent.begin(), overspent.end());
  };
  check(scenario.cluster.device, "cluster.device.design");
  if (scenario.serving && PoolsOfTwoKinds(*scenario.serving) != nullptr)
    check(*scenario.serving->disaggregated->prefill_device, "serving.disaggregated.prefill_device.design");
}

// Reads the parts, completes model, cluster and prices, and settles the mappings, except that of the `part` that a
// search chooses. Contradictions between the runs are checked later.
Result<Scenario> ReadScenario(Json expanded, const Written& written, std::string_view part = "") {
  Issues issues;
  if (!expanded.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(expanded)}};
  AskForDiffusionAlone(written, expanded);
  expanded.erase("written");
  std::vector<NamedUnit> units_assumed;
  if (VersionOf(expanded) >= 3) NameUnits<Scenario>(expanded, "", units_assumed);
  const AutoMappings autos = TakeAutoMappings(expanded, issues);
  ApplyDesignDefaults(expanded);
  const Count version = VersionOf(expanded);
  DropDerivedValues(MemberAt(expanded, "cluster.device"), version);
  DropDerivedValues(MemberAt(expanded, "serving.disaggregated.prefill_device"), version);
  if (auto cluster = expanded.find("cluster"); cluster != expanded.end()) {
    ExpandNetworks(*cluster, issues);
    ExpandPresets<Cluster>(*cluster, "cluster", issues);
    if (!expanded.contains("cost")) expanded["cost"] = Json::object();
    ApplyCostDefaults(expanded["cluster"], SplitsDevice(expanded), expanded["cost"]);
    if (const Json* serving = FindMember(expanded, "serving")) ApplyPrefillPoolDefaults(*serving, expanded["cost"]);
  }
  std::vector<Chosen> followed = FollowDevices(expanded, written);
  // The cluster is already expanded: keep it out of the second pass.
  Json cluster = expanded.contains("cluster") ? std::move(expanded["cluster"]) : Json();
  ExpandPresets<Scenario>(expanded, "", issues);
  ExplainDiffusionModels(expanded, issues);
  if (expanded.contains("cluster") && !cluster.is_null()) expanded["cluster"] = std::move(cluster);
  Scenario scenario;
  Issues faults;
  Read(expanded, "", faults, scenario);
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(issues),
               [unknown_presets = issues](const Issue& fault) { return !FollowsFrom(fault, unknown_presets); });
  if (!issues.empty()) return issues;
  if (MoveToMeasurements(scenario, expanded)) {
    scenario = Scenario();
    Read(expanded, "", issues, scenario);
    if (!issues.empty()) return issues;
  }
  FollowSessions(expanded, written, scenario, issues);
  if (!issues.empty()) return issues;
  if (scenario.serving) {
    scenario.serving->idle_sessions = IdleSessionsOf(*scenario.serving, scenario.version);
    if (LacksSsd(expanded, *scenario.serving, scenario.version)) scenario.serving->prefix_cache->ssd_capacity = Bytes{};
  }
  scenario.chosen = std::move(followed);
  scenario.units_assumed = std::move(units_assumed);
  CheckDesigns(scenario, issues);
  ResolveSystem(scenario, issues);
  if (!issues.empty()) return issues;
  SettleMappings(scenario, autos, written, part, issues);
  if (!issues.empty()) return issues;
  return scenario;
}

void ResolveRuns(Scenario& scenario, Issues& issues) {
  if (scenario.training)
    ValidateAndFillDefaults(*scenario.training, scenario.model, scenario.cluster, "training", issues);
  if (scenario.serving) ValidateAndFillDefaults(*scenario.serving, scenario.model, scenario.cluster, "serving", issues);
  if (scenario.diffusion) ValidateAndFillDefaults(*scenario.diffusion, scenario.cluster, "diffusion", issues);
  if (scenario.post_training && issues.empty()) {
    const TrainingRun* const training = scenario.training ? &*scenario.training : nullptr;
    const ServingLoad* const serving = scenario.serving ? &*scenario.serving : nullptr;
    Validate(*scenario.post_training, scenario.cluster, training, serving, "post_training", issues);
  }
}

}  // namespace

std::optional<Ratio> IdleSessionsOf(const ServingLoad& load, Count version) {
  constexpr double kAsLongAsItRuns = 1;
  const bool states_prefixes = load.prefix_cache && load.prefix_cache->prefixes > 0;
  const bool says_otherwise = load.idle_sessions || load.sessions || states_prefixes;
  if (version < 3 || says_otherwise || load.disaggregated) return load.idle_sessions;
  return kAsLongAsItRuns;
}

Json AskedParts(Json request) {
  const Written written(request);
  AskForDiffusionAlone(written, request);
  return request;
}

Issue SwitchedOff(const std::string& part, bool asks_for_images) {
  if (!asks_for_images) return {part, "Required: this part is switched off", {LeaveOut(part)}};
  return {"diffusion",
          "Asks for images or clips alone, and this is for " + part +
              " of language models: sweep and solve vary what images or clips depend on",
          {LeaveOut("diffusion")}};
}

void Resolve(Scenario& scenario, Issues& issues) {
  ResolveSystem(scenario, issues);
  // Runs are completed from model and cluster, so these must be valid.
  if (issues.empty()) ResolveRuns(scenario, issues);
}

Result<Scenario> ParseScenario(Json request) {
  const Written written(request);
  const Json* const levels = MemberAt(request, "cluster.networks");
  const Json networks = levels == nullptr ? Json() : *levels;
  Result<Scenario> scenario = ReadScenario(std::move(request), written);
  if (!scenario) return scenario;
  ApplyLegalDefaults(*scenario, written);
  Issues issues;
  ResolveRuns(*scenario, issues);
  if (!issues.empty()) return issues;
  scenario->warnings = RequestWarnings(*scenario, networks);
  AddUnusedByRollouts(*scenario, written, scenario->warnings);
  return scenario;
}

Result<Scenario> ParseForSearch(Json request, std::string_view part) {
  const Written written(request);
  const bool idle_sessions_follow = part == "serving" && !IsSet(request, "serving.idle_sessions");
  Result<Scenario> scenario = ReadScenario(std::move(request), written, part);
  if (!scenario) return scenario;
  ResetMapping(*scenario, written, part);
  ApplyLegalDefaults(*scenario, written, part);
  ResetMapping(*scenario, written, part);  // the adjusted mapping is not part of the search either
  Issues issues;
  ResolveRuns(*scenario, issues);
  // The reset mapping need not divide the batch nor spread the experts; the search space holds only mappings that do.
  const std::string_view of_mapping = part == "training"    ? "training.global_batch"
                                      : scenario->model.moe ? "serving.redundant_experts"
                                                            : "";
  std::erase_if(issues, [&](const Issue& issue) { return issue.path == of_mapping; });
  if (!issues.empty()) return issues;
  if (idle_sessions_follow && scenario->serving) scenario->serving->idle_sessions.reset();
  if (part == "serving" && scenario->serving && written.IsDefault("serving.concurrency"))
    scenario->serving->concurrency.reset();  // the search chooses a batch
  return scenario;
}

}  // namespace slipstick
