#include "core/scenario/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/schema.h"
#include "core/base/type_path.h"
#include "core/scenario/scenario.h"

namespace slipstick {

namespace {

constexpr std::array<const char*, 2> kMapped{"training", "serving"};

Json AutoMapping() { return ObjectOf({{"auto", true}}); }

}  // namespace

const Json& DefaultRequest(Count version) {
  static const Json request = *ParseJson(R"({
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
  const auto mapped = [](Count later) {
    Json one = request;
    one["version"] = later;
    for (const char* part : kMapped) one[part]["mapping"] = AutoMapping();
    return one;
  };
  static const Json second = mapped(2), third = [&] {
    Json one = mapped(3);
    one["serving"]["tuning"] = ObjectOf({{"preset", "stock"}});
    one["serving"]["concurrency"] = one["serving"]["batch"];  // in total, so that layouts are compared at equal load
    return one;
  }();
  return version == 1 ? request : version == 2 ? second : third;
}

Count VersionOf(const Json& request) {
  const Json* version = FindMember(request, "version");
  const bool is_number = version != nullptr && version->is_number_integer();
  return is_number && *version >= 1 && *version <= kNewestVersion ? version->get<Count>() : kNewestVersion;
}

Result<Assignment> ParseAssignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Issues{{"", "Enter PATH=VALUE, not " + internal::Shown(Json(std::string(text)))}};
  }
  std::string path(text.substr(0, equals));  // dies[0] is dies.0
  std::replace(path.begin(), path.end(), '[', '.');
  std::erase(path, ']');
  const std::string_view value = text.substr(equals + 1);
  Result<Json> json = ParseJson(value);
  const bool stays_text = json && json->is_number() && IsQuantityAt<Scenario>(path);
  return Assignment{path, json && !stays_text ? std::move(*json) : Json(std::string(value))};
}

namespace {

constexpr std::string_view kWritten = "written";

std::ptrdiff_t DepthOf(const Assignment& one) { return std::count(one.path.begin(), one.path.end(), '.'); }

// Whether a text at this path names a catalogue entry. Network levels are expanded before their fields are read.
bool NamesPreset(std::string_view path) {
  constexpr std::string_view kLevel = "cluster.networks.";
  if (path.starts_with(kLevel) && path.find_first_not_of("0123456789", kLevel.size()) == std::string_view::npos)
    return true;
  return !PresetKindAt<Scenario>(path).empty();
}

// Whether the value is "auto" in place of a mapping.
bool IsAutoText(std::string_view path, const Json& value) {
  return (path == "training.mapping" || path == "serving.mapping") && value.is_string() && TextOf(value) == "auto";
}

// Turns mappings into objects: "auto" is short for {"auto": true}, the default of version 2 for a part without one.
void CompleteMappings(Json& request, Count version) {
  for (const char* part : kMapped) {
    const auto found = request.find(part);
    if (found == request.end() || !found->is_object()) continue;
    const auto mapping = found->find("mapping");
    if (mapping == found->end() ? version == 2 : IsAutoText(std::string(part) + ".mapping", *mapping))
      (*found)["mapping"] = AutoMapping();
  }
}

// Whether an object replaces the existing one: it names a preset, or has every required member.
bool StandsAlone(std::string_view path, const Json& object) {
  const Json* preset = FindMember(object, "preset");
  if (preset != nullptr && preset->is_string() && !TextOf(*preset).empty() && NamesPreset(path)) return true;
  const std::vector<std::string_view> required = RequiredMembersAt<Scenario>(path);
  return !required.empty() &&
         std::all_of(required.begin(), required.end(), [&](std::string_view key) { return object.contains(key); });
}

// Turns "cluster.device": "h100-sxm5-80gb" above a path into {"preset": …}, so that members below it can be set.
void Unfold(Json& request, std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    Json* owner = MemberAt(request, path.substr(0, dot));
    if (owner != nullptr && owner->is_string() && NamesPreset(path.substr(0, dot))) *owner = Json{{"preset", *owner}};
  }
}

void SortByDepth(std::vector<Assignment>& assignments) {
  std::stable_sort(assignments.begin(), assignments.end(),
                   [](const Assignment& a, const Assignment& b) { return DepthOf(a) < DepthOf(b); });
}

// A value as in a completed request: the name of a catalogue entry as {"preset": …}, "auto" as an object.
Json Completed(std::string_view path, Json value) {
  if (value.is_string() && NamesPreset(path)) return Json{{"preset", std::move(value)}};
  return IsAutoText(path, value) ? AutoMapping() : value;
}

void AddWritten(Json& request, std::string path) {
  const auto written = request.find(kWritten);
  if (written != request.end()) written->push_back(std::move(path));
}

// Merges an object into another one member by member, as assignments of its members do, and lists their paths.
void MergeMembers(Json& under, Json over, const std::string& path, std::vector<std::string>& written) {
  for (auto& [key, value] : over.items()) {
    const std::string at = JoinPath(path, key);
    if (!value.is_object() || StandsAlone(at, value)) {
      under[key] = Completed(at, std::move(value));
      written.push_back(at);
      continue;
    }
    Json& present = under[key];
    if (present.is_string() && NamesPreset(at)) present = Json{{"preset", std::move(present)}};
    if (!present.is_object()) {
      present = Json::object();  // {} turns on a part that was off
      written.push_back(at);
    }
    MergeMembers(present, std::move(value), at, written);
  }
}

// Merges an object into the request at a path.
void MergeAt(Json& request, const std::string& path, Json over) {
  std::vector<std::string> written;
  if (path.empty()) {
    MergeMembers(request, std::move(over), path, written);
  } else {
    Json* present = MemberAt(request, path);
    if (present == nullptr || !present->is_object()) {
      SetPath(request, path, Json::object());
      written.push_back(path);
    }
    MergeMembers(*MemberAt(request, path), std::move(over), path, written);
  }
  for (std::string& one : written) AddWritten(request, std::move(one));
}

constexpr std::string_view kDevices = "cluster.devices";

// The written number of devices, which holds for another cluster too; null if none was written or if the value names no
// cluster.
Json CountToKeep(const Json& request, std::string_view path, const Json& value) {
  const Json* devices = path == "cluster" && value.is_string() ? MemberAt(request, kDevices) : nullptr;
  return devices == nullptr || Written(request).IsDefault(kDevices) ? Json() : *devices;
}

}  // namespace

void Apply(Json& request, std::vector<Assignment> assignments) {
  SortByDepth(assignments);
  for (Assignment& one : assignments) {
    Unfold(request, one.path);
    // Other overrides of the previous entry do not apply to a new one.
    Json kept = CountToKeep(request, one.path, one.value);
    SetPath(request, one.path, Completed(one.path, std::move(one.value)));
    if (!kept.is_null()) SetPath(request, kDevices, std::move(kept));
    AddWritten(request, one.path);
  }
}

namespace {

// As Apply, but merges objects member by member, and "cluster.preset" names another cluster as "cluster" does.
void ApplyByMember(Json& request, std::vector<Assignment> assignments) {
  constexpr std::string_view kPreset = ".preset";
  for (Assignment& one : assignments) {
    const std::string owner = one.path.ends_with(kPreset) ? one.path.substr(0, one.path.size() - kPreset.size()) : "";
    if (!owner.empty() && NamesPreset(owner) && one.value.is_string() && !TextOf(one.value).empty()) one.path = owner;
  }
  SortByDepth(assignments);
  for (Assignment& one : assignments) {
    if (!one.value.is_object() || StandsAlone(one.path, one.value)) {
      Apply(request, {std::move(one)});
    } else {
      Unfold(request, one.path);
      MergeAt(request, one.path, std::move(one.value));
    }
  }
}

}  // namespace

Json WithOverrides(Json request, const Json& overrides) {
  std::vector<Assignment> assignments;
  for (const auto& [path, value] : overrides.items()) assignments.push_back({path, value});
  Apply(request, std::move(assignments));
  return request;
}

Json WithFix(Json request, const Fix& fix) {
  std::vector<Change> changes{fix.change};
  changes.insert(changes.end(), fix.also.begin(), fix.also.end());
  std::vector<Assignment> set;
  for (const Change& change : changes) {
    Result<Json> value = ParseJson(change.value);
    if (value) set.push_back({change.path, std::move(*value)});
  }
  Apply(request, std::move(set));
  for (const Change& change : changes) {
    if (!change.value.empty()) continue;
    const std::size_t dot = change.path.rfind('.');
    const std::string above = dot == std::string::npos ? "" : change.path.substr(0, dot);
    Json* owner = above.empty() ? &request : MemberAt(request, above);
    if (owner == nullptr || !owner->is_object()) continue;
    owner->erase(change.path.substr(dot + 1));
    // An unwritten member comes from the default scenario, unless something written replaced the object around it.
    const Json* standard = VersionOf(request) >= 3 && Written(request).IsDefault(above)
                               ? MemberAt(DefaultRequest(), change.path)
                               : nullptr;
    if (standard != nullptr) SetPath(request, change.path, *standard);
  }
  return *CompleteRequest(std::move(request));
}

Result<Json> CompleteRequest(Json request) {
  if (!request.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(request)}};
  const Count version = VersionOf(request);
  if (const Json* list = FindMember(request, kWritten)) {
    const bool is_paths =
        list->is_array() && std::all_of(list->begin(), list->end(), [](const Json& one) { return one.is_string(); });
    if (!is_paths) return Issues{{std::string(kWritten), "Must be a list of paths, not " + internal::Shown(*list)}};
  } else if (version >= 3) {
    Json completed = DefaultRequest(version);
    completed[kWritten] = Json::array();
    MergeAt(completed, "", std::move(request));
    return completed;
  } else {
    Json written = Json::array();
    for (const auto& [key, value] : request.items()) written.push_back(key);
    request[kWritten] = std::move(written);
  }
  CompleteMappings(request, version);
  // An absent part comes from the default scenario; null turns a part off.
  for (const auto& [key, value] : DefaultRequest(version).items()) {
    if (!request.contains(key)) request[key] = value;
  }
  return request;
}

Result<Json> ReadRequest(std::string_view text, const std::vector<std::string>& assignments) {
  Result<Json> json = Json::object();
  if (!text.empty()) json = ParseJson(text);
  if (!json) return json;
  std::vector<Assignment> changes;
  Issues issues;
  for (const std::string& assignment : assignments) {
    Result<Assignment> one = ParseAssignment(assignment);
    if (one) {
      // The version determines which default scenario the other assignments change.
      if (one->path == "version" && json->is_object()) (*json)["version"] = one->value;
      changes.push_back(std::move(*one));
    } else {
      issues.insert(issues.end(), one.issues.begin(), one.issues.end());
    }
  }
  json = CompleteRequest(std::move(*json));
  if (!json) return json;
  if (!issues.empty()) return issues;
  if (VersionOf(*json) >= 3) {
    ApplyByMember(*json, std::move(changes));
  } else {
    Apply(*json, std::move(changes));
  }
  return json;
}

Written::Written(const Json& request) : all_(true) {
  const Json* list = FindMember(request, kWritten);
  if (list == nullptr) return;
  all_ = false;
  for (const Json& one : *list) {
    if (one.is_string()) paths_.emplace_back(TextOf(one));
  }
}

bool Written::IsUntouched(std::string_view member) const {
  return IsDefault(member) && std::none_of(paths_.begin(), paths_.end(), [member](const std::string& one) {
           return one.starts_with(member) && one[member.size()] == '.';
         });
}

bool Written::IsDefault(std::string_view path) const {
  return !all_ && std::none_of(paths_.begin(), paths_.end(), [path](const std::string& one) {
    return path.starts_with(one) && (path.size() == one.size() || path[one.size()] == '.');
  });
}

}  // namespace slipstick
