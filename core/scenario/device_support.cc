#include "core/scenario/device_support.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/listed.h"
#include "core/catalogue/presets.h"

namespace slipstick {
namespace {

constexpr Count kFollowsFrom = 3;  // earlier versions keep the default engine and framework

struct Software {
  std::string_view path, kind,
      families;  // its member in the scenario; the kind of its preset; the preset's member with the table
};
constexpr Software kEngine{"serving.engine", "engine", "devices"},
    kFramework{"training.framework", "framework", "capabilities.devices"};

// Number of families that a preset lists, if it lists this one; 0 for other presets and those without a list.
std::size_t FamiliesWith(std::string_view family, const Json& preset, const Software& software) {
  const Json* list = MemberAt(preset, software.families);
  if (list == nullptr || !list->is_array()) return 0;
  const bool has = std::any_of(list->begin(), list->end(),
                               [&](const Json& one) { return one.is_string() && TextOf(one) == family; });
  return has ? list->size() : 0;
}

struct RunningPreset {
  std::string_view id;
  std::size_t families;
};
// The presets that list a family, the most specialized first.
std::vector<RunningPreset> RunningOn(std::string_view family, const Software& software) {
  std::vector<RunningPreset> all;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != software.kind) continue;
    const std::size_t families = FamiliesWith(family, *FindPreset(preset.kind, preset.id), software);
    if (families > 0) all.push_back({preset.id, families});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const RunningPreset& a, const RunningPreset& b) { return a.families < b.families; });
  return all;
}

bool RunsOn(const std::vector<Architecture>& families, const Device& device) {
  return families.empty() || std::find(families.begin(), families.end(), device.architecture) != families.end();
}

void AddUnsupported(const Software& software, const std::string& name, const std::vector<Architecture>& families,
                    const Device& device, std::vector<std::string>& texts) {
  if (RunsOn(families, device)) return;
  const std::string others = Listed(RunningOn(device.architecture.name(), software), &RunningPreset::id);
  texts.push_back(name + " does not run on " + device.name + ": its figures are hypothetical" +
                  (others.empty() ? std::string() : "; " + std::string(software.path) + " that do: " + others));
}

}  // namespace

std::vector<Chosen> FollowDevices(Json& request, const Written& written) {
  std::vector<Chosen> chosen;
  const Json *version = FindMember(request, "version"), *family = MemberAt(request, "cluster.device.architecture");
  if (version == nullptr || !version->is_number() || *version < kFollowsFrom || family == nullptr ||
      !family->is_string())
    return chosen;
  for (const Software& software : std::array{kEngine, kFramework}) {
    const std::string path = std::string(software.path) + ".preset";
    const Json* named = MemberAt(request, path);
    if (named == nullptr || !named->is_string() || !written.IsDefault(path)) continue;
    const Json* now = FindPreset(software.kind, TextOf(*named));
    const std::vector<RunningPreset> others = RunningOn(TextOf(*family), software);
    const bool is_listed = now != nullptr && MemberAt(*now, software.families) != nullptr;
    if (!is_listed || others.empty() || FamiliesWith(TextOf(*family), *now, software) > 0) continue;
    const std::string why = TextOf((*now)["name"]) + ", the default, does not run on these devices.";
    chosen.push_back({path, 0, std::string(others.front().id), why});
    SetPath(request, path, std::string(others.front().id));
  }
  return chosen;
}

std::vector<std::string> UnsupportedSoftware(const Scenario& scenario) {
  std::vector<std::string> texts;
  const Device& device = scenario.cluster.device;
  if (scenario.training) {
    const Framework& framework = scenario.training->framework;
    AddUnsupported(kFramework, framework.name, framework.capabilities.devices, device, texts);
  }
  if (scenario.serving) {
    const ServingLoad& load = *scenario.serving;
    AddUnsupported(kEngine, load.engine.name, load.engine.devices, device, texts);
    if (const Disaggregated* const pools = PoolsOfTwoKinds(load))
      AddUnsupported(kEngine, load.engine.name, load.engine.devices, *pools->prefill_device, texts);
  }
  return texts;
}

}  // namespace slipstick
