#include "core/scenario/input_sources.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/schema.h"
#include "core/base/type_path.h"
#include "core/hardware/device.h"
#include "core/operators/efficiency.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/preset_walk.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

// The members that a key of `sources` names: "peak, units" or "efficiency.decode_stream, cache_stream", whose second
// name has the parent of the first.
std::vector<std::string> NamedMembers(std::string_view key, const Json& entry) {
  std::vector<std::string> members;
  std::string beside;
  while (!key.empty()) {
    const std::size_t comma = key.find(", ");
    std::string member(key.substr(0, comma));
    key.remove_prefix(comma == std::string_view::npos ? key.size() : comma + 2);
    if (!beside.empty() && MemberAt(entry, beside + member) != nullptr) member = beside + member;
    beside = member.substr(0, member.rfind('.') + 1);
    members.push_back(std::move(member));
  }
  return members;
}

using Sources = std::unordered_map<std::string, std::string_view>;

// `stated`: the entry's numbers; `held`: the scenario's.
void AddNumbers(const Json& stated, const Json& held, const std::string& path, std::string_view source, bool replaces,
                Sources& sources) {
  if (stated.is_object() && held.is_object()) {
    for (const auto& [key, member] : stated.items()) {
      if (const Json* other = FindMember(held, key))
        AddNumbers(member, *other, JoinPath(path, key), source, replaces, sources);
    }
  } else if (stated.is_array() && held.is_array()) {
    for (std::size_t i = 0; i < std::min(stated.size(), held.size()); ++i) {
      AddNumbers(stated[i], held[i], JoinPath(path, std::to_string(i)), source, replaces, sources);
    }
  } else {
    if (NumberIn(held) && IsSameValue(stated, held) && (replaces || !sources.contains(path))) sources[path] = source;
  }
}

// The source of a member takes precedence over the source of the whole. `stated`: the entry's numbers.
void AddEntry(const Json& held, const Json& entry, const Json& stated, const std::string& path, Sources& sources) {
  const Json* named = FindMember(entry, "sources");
  if (named == nullptr || !named->is_object()) return;
  for (const auto& [key, source] : named->items()) {
    if (!source.is_string()) continue;
    for (const std::string& member : NamedMembers(key, stated)) {
      const Json *number = MemberAt(stated, member), *other = MemberAt(held, member);
      if (number == nullptr || other == nullptr) continue;
      AddNumbers(*number, *other, JoinPath(path, member), TextOf(source), member.find('.') != std::string::npos,
                 sources);
    }
  }
}

// The values that an entry itself states.
Json Own(const Json& entry, const internal::Type&) { return WithoutRemarks(entry); }
// The entry with the defaults of its kind's standard.
Json Whole(const Json& entry, const internal::Type& type) {
  Json whole = type.standard != nullptr ? internal::WriteAs(type, type.standard()) : Json::object();
  MergeJson(whole, WithoutRemarks(entry));
  return whole;
}

}  // namespace

std::unordered_map<std::string, std::string_view> InputSources(const Json& scenario) {
  const auto sources_by = [&scenario](auto visit_entries, auto stated) {
    Sources sources;
    visit_entries(scenario, internal::kType<Scenario>, "",
                  [&](const Json& held, const Json& entry, const internal::Type& type, const std::string& path) {
                    AddEntry(held, entry, stated(entry, type), path, sources);
                  });
    return sources;
  };
  Sources sources = sources_by(VisitPresets, Own);
  sources.merge(sources_by(VisitStandards, Own));
  sources.merge(sources_by(VisitPresets, Whole));
  return sources;
}

namespace {

using MemberPath = std::array<std::string, 2>;  // a member of a part of the device

// The value at a member path; null if absent.
Json ValueAt(const Json& device, const MemberPath& member) {
  const Json* part = FindMember(device, member[0]);
  const Json* value = part == nullptr ? nullptr : FindMember(*part, member[1]);
  return value == nullptr ? Json() : *value;
}

std::vector<MemberPath> MembersThatRulesMaySet(const Json& device, const Json& entry) {
  std::vector<MemberPath> members{{"memory", "usable"}};
  const Json* efficiency = FindMember(device, "efficiency");
  if (efficiency != nullptr && efficiency->is_object()) {
    for (const auto& member : efficiency->items()) members.push_back({"efficiency", member.key()});
  }
  std::erase_if(members, [&](const MemberPath& member) {
    return !ValueAt(device, member).is_number() || !ValueAt(entry, member).is_null();
  });
  return members;
}

}  // namespace

void DropRuleDerivedValues(Json& device, bool detached) {
  if (!device.is_object() || !device.contains("efficiency")) return;
  // Only a resolved device states the rates of its design, by which the rules filled the others.
  if (detached && !device.contains("peak")) return;
  const Json* entry = detached ? nullptr : FindPreset("device", TextAt(device, "preset"));
  const std::vector<MemberPath> members = MembersThatRulesMaySet(device, entry == nullptr ? Json::object() : *entry);
  Json bare = device;
  for (const MemberPath& member : members) bare[member[0]][member[1]] = nullptr;
  Issues issues;
  ExpandPresets<Device>(bare, "", issues);
  Device by_rules;
  Read(bare, "", issues, by_rules);
  if (!issues.empty()) return;  // reported when the whole device is read
  CompleteEfficiency(by_rules);
  const Json filled = Write(by_rules);
  for (const MemberPath& member : members) {
    if (ValueAt(filled, member) == ValueAt(device, member)) device[member[0]][member[1]] = nullptr;
  }
}

}  // namespace slipstick
