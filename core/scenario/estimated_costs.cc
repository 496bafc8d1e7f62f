#include "core/scenario/estimated_costs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/schema.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/preset_walk.h"

namespace slipstick {
namespace {

// Whether `value` equals the entry's member wherever that member has a value.
bool IsUnchanged(const Json& value, const Json& entry) {
  if (entry.is_object()) {
    if (!value.is_object()) return false;
    return std::all_of(entry.items().begin(), entry.items().end(), [&](const auto& member) {
      const Json* held = FindMember(value, member.key());
      return held != nullptr && IsUnchanged(*held, member.value());
    });
  }
  if (entry.is_array()) {
    if (!value.is_array() || value.size() != entry.size()) return false;
    for (std::size_t i = 0; i < entry.size(); ++i) {
      if (!IsUnchanged(value[i], entry[i])) return false;
    }
    return true;
  }
  return IsSameValue(entry, value);
}

bool IsInReports(const internal::Type& type, std::string_view key) {
  return std::any_of(type.fields->begin(), type.fields->end(),
                     [&](const FieldRow& row) { return row.facts.key == key && !row.facts.is_outside_reports; });
}

void AddEstimates(const Json& json, const Json& entry, const internal::Type& type, const std::string& path,
                  std::vector<std::string>& paths) {
  const Json* sources = FindMember(entry, "sources");
  if (sources == nullptr || !sources->is_object()) return;
  for (const auto& source : sources->items()) {
    if (!source.value().is_string() || TextOf(source.value()).find("estimate") == std::string::npos) continue;
    const Json* stated = FindMember(entry, source.key());
    const Json* held = FindMember(json, source.key());
    if (stated == nullptr || held == nullptr || !IsInReports(type, source.key())) continue;
    if (IsUnchanged(*held, *stated)) paths.push_back(JoinPath(path, source.key()));
  }
}

}  // namespace

std::vector<std::string> EstimatedCosts(const CostInputs& inputs) {
  const Json cost = Write(inputs);
  std::vector<std::string> paths;
  const auto add_unless_known = [&](const Json& inside, const std::string& where) {
    for (const auto& [member, kind] : {std::pair("device", "bill"), std::pair("system", "system")}) {
      const bool is_known = FindPreset(kind, TextAt(inside, JoinPath(member, "preset"))) != nullptr;
      if (!is_known) paths.push_back(where + "." + member);
    }
  };
  add_unless_known(cost, "cost");
  if (inputs.prefill_pool) add_unless_known(cost["prefill_pool"], "cost.prefill_pool");
  VisitPresets(cost, internal::kType<CostInputs>, "cost",
               [&paths](const Json& held, const Json& entry, const internal::Type& type, const std::string& path) {
                 AddEstimates(held, entry, type, path, paths);
               });
  // Among the defaults that no preset states, those with a source of their own.
  const Json& standard = *FindPreset("standard", Schema<CostInputs>::standard);
  for (const auto& source : standard["sources"].items()) {
    const Json *stated = MemberAt(standard, source.key()), *held = MemberAt(cost, source.key());
    if (stated == nullptr || held == nullptr || TextOf(source.value()).find("estimate") == std::string::npos) continue;
    if (IsUnchanged(*held, *stated)) paths.push_back(JoinPath("cost", source.key()));
  }
  return paths;
}

}  // namespace slipstick
