#include "core/study/cost_defaults.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "core/base/schema.h"
#include "core/base/units.h"
#include "core/study/presets.h"

namespace slipstick {
namespace {

const Json kNothing = Json::object();

const Json& Member(const Json& json, const char* key) {
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}

std::string TextOf(const Json& json, const char* key) {
  const Json& member = Member(json, key);
  return member.is_string() ? member.get<std::string>() : "";
}

// The number that a member means in base units; `otherwise` where it is none. Reading the scenario reports what is wrong.
double NumberOf(const Json& json, const char* key, double otherwise) {
  const Json& member = Member(json, key);
  if (member.is_number()) return member.get<double>();
  if (!member.is_string()) return otherwise;
  const auto measure = ParseMeasure(member.text());
  return measure ? measure->value : otherwise;
}

// "HBM3e" -> "hbm3e"
std::string DramOf(const std::string& technology) {
  std::string id;
  for (const char c : technology) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return FindPreset("dram", id) != nullptr ? id : "";
}

Json Without(const Json& preset) {
  Json copy = preset;
  for (const char* remark : {"sources", "note", "published"}) copy.erase(remark);
  return copy;
}

// A bill for a device that the catalogue has none of: its dies and memory in the package their kind calls for.
Json MadeUpBill(const Json& device, const std::string& dram) {
  const double dies = NumberOf(Member(device, "die"), "count", 1);
  const Json* memory = dram.empty() ? nullptr : FindPreset("dram", dram);
  const bool stacked = memory == nullptr || Member(*memory, "in_package") == Json(true);
  return Json{{"dies", Json::array({Json{{"name", "compute"}}})},
              {"package",
               {{"preset", stacked    ? "interposer"
                           : dies > 1 ? "organic-mcm"
                                      : "board"}}},
              {"module", stacked ? "250 $" : "100 $"}};
}

}  // namespace

void LayCostDefaults(const Json& cluster, Json& cost) {
  if (!cost.is_object()) return;
  const Json& device = Member(cluster, "device");
  const Json& asked = Member(cost, "device");
  std::string id = TextOf(asked, "preset");
  if (id.empty()) id = TextOf(device, "preset");
  const Json* entry = FindPreset("bill", id);
  const std::string dram = DramOf(TextOf(Member(device, "memory"), "technology"));
  Json bill = entry != nullptr ? Without(*entry) : MadeUpBill(device, dram);
  if (entry != nullptr) bill["preset"] = id;

  Json& dies = bill["dies"];
  if (!dies.is_array() || dies.empty()) dies = Json::array({Json::object()});
  Json& die = dies[0];
  for (const char* key : {"area", "count"}) {
    if (Member(device, "die").contains(key)) die[key] = Member(Member(device, "die"), key);
  }
  const std::string node = TextOf(Member(device, "die"), "node");
  if (FindPreset("node", node) != nullptr) die["node"]["preset"] = node;

  Json& memory = bill["memory"];
  if (!memory.is_object()) memory = Json::object();
  const bool has_stacks = memory.contains("stacks");
  if (TextOf(memory, "preset").empty() || !has_stacks) memory["preset"] = dram.empty() ? "hbm3" : dram;
  // The bill's stacks are those of the catalogue's device; another capacity takes as many as it needs.
  const double capacity = NumberOf(Member(device, "memory"), "capacity", 0);
  const Json* original = FindPreset("device", TextOf(device, "preset"));
  const double usual = original == nullptr ? 0 : NumberOf(Member(*original, "memory"), "capacity", 0);
  if (!has_stacks || (capacity != usual && usual > 0)) {
    const Json* chip = FindPreset("dram", TextOf(memory, "preset"));
    const double stack = NumberOf(memory, "stack_capacity", chip == nullptr ? 16e9 : NumberOf(*chip, "stack_capacity", 16e9));
    memory["stack_capacity"] = stack;
    memory["stacks"] = stack > 0 ? std::clamp(std::ceil(capacity / stack), 1.0, 1024.0) : 1.0;
  }

  Json system = Json::object();
  std::string system_id = TextOf(Member(cost, "system"), "preset");
  if (system_id.empty()) system_id = TextOf(cluster, "preset");
  if (FindPreset("system", system_id) != nullptr) {
    system["preset"] = system_id;
  } else {
    const Json& networks = Member(cluster, "networks");
    const double first = networks.is_array() && !networks.empty() ? NumberOf(networks[0], "size", 8) : 1;
    system["devices_per_host"] = std::clamp(std::min(first, 8.0), 1.0, 8.0);
  }

  Json laid{{"device", std::move(bill)}, {"system", std::move(system)}};
  MergeJson(laid, cost);
  cost = std::move(laid);
}

void FollowDevice(const Device& device, DeviceBill& bill) {
  if (bill.dies.empty()) bill.dies.emplace_back();
  DieInput& die = bill.dies[0];
  die.area = device.die.area;
  die.count = device.die.count;
  const auto follow = [](std::string_view kind, const std::string& id, auto& value) {
    const Json* entry = FindPreset(kind, id);
    if (entry == nullptr) return;
    Issues none;  // the catalogue's entries read without any; a test holds them to it
    Read(Without(*entry), "", none, value);
    value.preset = id;
  };
  if (device.die.node != die.node.preset) follow("node", device.die.node, die.node);
  const std::string dram = DramOf(device.memory.technology);
  if (!dram.empty() && dram != bill.memory.preset) follow("dram", dram, bill.memory);
  const double stacks = std::ceil(device.memory.capacity / bill.memory.stack_capacity - 1e-9);
  bill.memory.stacks = static_cast<Count>(std::clamp(stacks, 1.0, 1024.0));
}

}  // namespace slipstick
