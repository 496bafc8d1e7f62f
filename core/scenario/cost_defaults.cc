#include "core/scenario/cost_defaults.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "core/base/schema.h"
#include "core/base/units.h"
#include "core/catalogue/presets.h"
#include "core/economics/device_bill.h"

namespace slipstick {
namespace {

const Json kNothing = Json::object();

const Json& Member(const Json& json, const char* key) {
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}

std::string TextAt(const Json& json, const char* key) {
  const Json& member = Member(json, key);
  return member.is_string() ? member.get<std::string>() : "";
}

// The number that a member means in base units; `otherwise` where it is none. Reading the scenario reports what is wrong.
double NumberOf(const Json& json, const char* key, double otherwise) { return NumberIn(Member(json, key)).value_or(otherwise); }

// "HBM3e" -> "hbm3e"
std::string DramOf(const std::string& technology) {
  std::string id;
  for (const char c : technology) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return FindPreset("dram", id) != nullptr ? id : "";
}

// A bill for a device that the catalogue has none of: its dies and memory in the package their kind calls for.
Json EstimatedBill(const Json& device, const std::string& dram) {
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

// The dies and the memory that are to be priced: a designed chip's own, where there is one.
struct Silicon {
  double area = 0;  // of a compute die, mm^2; 0 where it is not given
  Json count;
  std::string node, dram;
};
Silicon SiliconOf(const Json& device) {
  const Json& design = Member(device, "design");
  const Json& die = Member(device, "die");
  if (design.is_object() && !design.empty()) {
    const ChipDesign standard;
    const auto id = [&](const char* part) {
      const std::string preset = TextAt(Member(design, part), "preset");
      return preset.empty() ? TextAt(Member(design, part), "name") : preset;
    };
    const std::string node = id("node"), dram = id("dram");
    return {NumberOf(design, "area", standard.area.base()), 1, node.empty() ? standard.node.name : node,
            DramOf(dram.empty() ? standard.dram.name : dram)};
  }
  return {NumberOf(die, "area", 0), Member(die, "count"), TextAt(die, "node"), DramOf(TextAt(Member(device, "memory"), "technology"))};
}

// What the catalogue's price of a device leaves its maker, over that price: a device that differs is priced at this margin.
std::optional<double> MarginOf(const std::string& id) {
  const std::optional<DeviceBill> bill = CatalogueBill(id);
  if (!bill || !bill->price) return std::nullopt;
  Trace trace = Trace::Off();
  const double margin = 1 - PriceDevice(*bill, ComputeGeometry(*bill), trace).total / *bill->price;
  return std::clamp(margin, 0.0, 0.99);
}

}  // namespace

std::optional<double> NumberIn(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto measure = ParseMeasure(TextOf(json));
  return measure ? std::optional(measure->value) : std::nullopt;
}

void ApplyCostDefaults(const Json& cluster, Json& cost) {
  if (!cost.is_object()) return;
  const Json& device = Member(cluster, "device");
  const Json& asked = Member(cost, "device");
  const bool designed = Member(device, "design").is_object() && !Member(device, "design").empty();
  std::string id = TextAt(asked, "preset");
  if (id.empty()) id = TextAt(device, "preset");
  const Json* entry = FindPreset("bill", id);
  const Silicon silicon = SiliconOf(device);
  const std::string& dram = silicon.dram;
  Json bill = entry != nullptr ? WithoutRemarks(*entry) : EstimatedBill(device, dram);
  if (entry != nullptr) bill["preset"] = id;

  Json& dies = bill["dies"];
  if (!dies.is_array() || dies.empty()) dies = Json::array({Json::object()});
  Json& die = dies[0];
  const Json* original = FindPreset("device", id);
  const Json& original_die = original == nullptr ? kNothing : Member(*original, "die");
  const double usual_area = NumberOf(original_die, "area", 0);
  if (silicon.area > 0) die["area"] = silicon.area;
  if (!silicon.count.is_object()) die["count"] = silicon.count;
  // The bill's entry is merged under all this once more when presets are expanded, so what it says is replaced, not left out.
  // Another area holds as many units, each larger or smaller; another node has its own wafers and defects.
  if (silicon.area > 0 && usual_area > 0 && die.contains("unit_area"))
    die["unit_area"] = NumberOf(die, "unit_area", 0) * silicon.area / usual_area;
  if (FindPreset("node", silicon.node) != nullptr) {
    if (silicon.node != TextAt(original_die, "node") && original != nullptr)
      die["node"] = WithoutRemarks(*FindPreset("node", silicon.node));
    die["node"]["preset"] = silicon.node;
  }
  // The catalogue's price is that of the catalogue's device.
  const bool price_dropped = Member(asked, "price").is_null() && asked.contains("price");
  if (designed || price_dropped) {
    if (const std::optional<double> margin = MarginOf(id)) bill["margin"] = *margin;
    bill["price"] = nullptr;
  }

  Json& memory = bill["memory"];
  if (!memory.is_object()) memory = Json::object();
  const std::string usual_dram = original == nullptr ? dram : DramOf(TextAt(Member(*original, "memory"), "technology"));
  const bool same_memory = dram.empty() || dram == usual_dram;
  if (!same_memory) {
    memory = WithoutRemarks(*FindPreset("dram", dram));
    memory["preset"] = dram;
  }
  const bool has_stacks = same_memory && memory.contains("stacks");
  if (TextAt(memory, "preset").empty() || !has_stacks) memory["preset"] = dram.empty() ? "hbm3" : dram;
  // The bill's stacks are those of the catalogue's device; another capacity takes as many as it needs.
  const double capacity = NumberOf(Member(device, "memory"), "capacity", 0);
  const double usual = original == nullptr ? 0 : NumberOf(Member(*original, "memory"), "capacity", 0);
  if (!has_stacks || (capacity != usual && usual > 0)) {
    const Json* chip = FindPreset("dram", TextAt(memory, "preset"));
    const double stack = NumberOf(memory, "stack_capacity", chip == nullptr ? 16e9 : NumberOf(*chip, "stack_capacity", 16e9));
    memory["stack_capacity"] = stack;
    memory["stacks"] = stack > 0 ? std::clamp(std::ceil(capacity / stack), 1.0, 1024.0) : 1.0;
  }

  Json system = Json::object();
  std::string system_id = TextAt(Member(cost, "system"), "preset");
  if (system_id.empty()) system_id = TextAt(cluster, "preset");
  if (FindPreset("system", system_id) != nullptr) {
    system["preset"] = system_id;
  } else {
    const Json& networks = Member(cluster, "networks");
    const double first = networks.is_array() && !networks.empty() ? NumberOf(networks[0], "size", 8) : 1;
    system["devices_per_host"] = std::clamp(std::min(first, 8.0), 1.0, 8.0);
  }

  Json merged{{"device", std::move(bill)}, {"system", std::move(system)}};
  MergeJson(merged, cost);
  cost = std::move(merged);
}

std::optional<DeviceBill> CatalogueBill(const std::string& id) {
  const Json* device = FindPreset("device", id);
  if (device == nullptr || FindPreset("bill", id) == nullptr) return std::nullopt;
  Json cluster{{"device", WithoutRemarks(*device)}}, cost = Json::object();
  cluster["device"]["preset"] = id;
  ApplyCostDefaults(cluster, cost);
  Issues issues;
  DeviceBill bill;
  ExpandPresets<DeviceBill>(cost["device"], "", FindPreset, NearestPresets, issues);
  Read(cost["device"], "", issues, bill);
  if (!issues.empty()) return std::nullopt;
  return bill;
}

void UpdateBillForDevice(const Device& device, DeviceBill& bill) {
  if (bill.dies.empty()) bill.dies.emplace_back();
  DieInput& die = bill.dies[0];
  die.unit_area = die.unit_area * (device.die.area / die.area);
  die.area = device.die.area;
  die.count = device.die.count;
  const auto follow = [](std::string_view kind, const std::string& id, auto& value) {
    const Json* entry = FindPreset(kind, id);
    if (entry == nullptr) return;
    Issues none;  // the catalogue's entries read without any; a test holds them to it
    Read(WithoutRemarks(*entry), "", none, value);
    value.preset = id;
  };
  if (device.die.node != die.node.preset) follow("node", device.die.node, die.node);
  const bool known = device.design && !device.design->dram.preset.empty();
  const std::string dram = DramOf(known ? device.design->dram.preset : device.memory.technology);
  if (!dram.empty() && dram != bill.memory.preset) follow("dram", dram, bill.memory);
  if (device.design) bill.memory.stack_capacity = device.design->dram.capacity;
  const double stacks = std::ceil(device.memory.capacity / bill.memory.stack_capacity - 1e-9);
  bill.memory.stacks = static_cast<Count>(std::clamp(stacks, 1.0, 1024.0));
}

}  // namespace slipstick
