#include "core/scenario/data_sheet_rules.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/hardware/device.h"
#include "core/operators/efficiency.h"

namespace slipstick {
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

void DropRuleDerivedValues(Json& device) {
  if (!device.is_object() || !device.contains("efficiency")) return;
  const Json* preset = FindMember(device, "preset");
  const Json* entry = preset != nullptr && preset->is_string() ? FindPreset("device", TextOf(*preset)) : nullptr;
  const std::vector<MemberPath> members = MembersThatRulesMaySet(device, entry == nullptr ? Json::object() : *entry);
  Json bare = device;
  for (const MemberPath& member : members) bare[member[0]].erase(member[1]);
  Issues issues;
  ExpandPresets<Device>(bare, "", FindPreset, NearestPresets, issues);
  Device by_rules;
  Read(bare, "", issues, by_rules);
  if (!issues.empty()) return;  // reported when the whole device is read
  CompleteEfficiency(by_rules);
  const Json filled = Write(by_rules);
  for (const MemberPath& member : members) {
    if (ValueAt(filled, member) == ValueAt(device, member)) device[member[0]].erase(member[1]);
  }
}

}  // namespace slipstick
