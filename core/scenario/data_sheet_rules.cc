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

using Place = std::array<std::string, 2>;  // a member of a part of the device

// What the device holds at a place; null where it holds nothing.
Json ValueAt(const Json& device, const Place& place) {
  const Json* part = FindMember(device, place[0]);
  const Json* value = part == nullptr ? nullptr : FindMember(*part, place[1]);
  return value == nullptr ? Json() : *value;
}

std::vector<Place> PlacesThatRulesMaySet(const Json& device, const Json& entry) {
  std::vector<Place> places{{"memory", "usable"}};
  const Json* efficiency = FindMember(device, "efficiency");
  if (efficiency != nullptr && efficiency->is_object()) {
    for (const auto& member : efficiency->items()) places.push_back({"efficiency", member.key()});
  }
  std::erase_if(places, [&](const Place& place) { return !ValueAt(device, place).is_number() || !ValueAt(entry, place).is_null(); });
  return places;
}

}  // namespace

void DropWhatRulesGive(Json& device) {
  if (!device.is_object() || !device.contains("efficiency")) return;
  const Json* preset = FindMember(device, "preset");
  const Json* entry = preset != nullptr && preset->is_string() ? FindPreset("device", TextOf(*preset)) : nullptr;
  const std::vector<Place> places = PlacesThatRulesMaySet(device, entry == nullptr ? Json::object() : *entry);
  Json bare = device;
  for (const Place& place : places) bare[place[0]].erase(place[1]);
  Issues issues;
  ExpandPresets<Device>(bare, "", FindPreset, NearestPresets, issues);
  Device by_rules;
  Read(bare, "", issues, by_rules);
  if (!issues.empty()) return;  // reading the whole device says them
  CompleteEfficiency(by_rules);
  const Json filled = Write(by_rules);
  for (const Place& place : places) {
    if (ValueAt(filled, place) == ValueAt(device, place)) device[place[0]].erase(place[1]);
  }
}

}  // namespace slipstick
