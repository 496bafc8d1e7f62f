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

// A catalogue entry that names itself as the preset.
Json Named(const Json& entry, std::string_view id) {
  Json named = WithoutRemarks(entry);
  named["preset"] = id;
  return named;
}

const Json& Member(const Json& json, const char* key) {
  if (!json.is_object()) return kNothing;
  const auto found = json.find(key);
  return found == json.end() ? kNothing : *found;
}

// A member's number in base units; `otherwise` if it has none. Faults are reported when the scenario is read.
double NumberOf(const Json& json, const char* key, double otherwise) {
  return NumberIn(Member(json, key)).value_or(otherwise);
}

// The entry of `kind` that is for `id`, a catalogue cluster or device: the one with that id, or the one that is usual
// for it. "": none.
std::string EntryFor(std::string_view kind, const std::string& id) {
  if (id.empty() || FindPreset(kind, id) != nullptr) return id;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != kind) continue;
    const Json& usual_for = Member(*FindPreset(kind, preset.id), "usual_for");
    if (std::find(usual_for.begin(), usual_for.end(), Json(id)) != usual_for.end()) return std::string(preset.id);
  }
  return "";
}

// The catalogue's bill that the request names, or that of its device; "": none.
std::string BillOf(const Json& device, const Json& written) {
  const std::string named = TextAt(written, "preset");
  return named.empty() ? EntryFor("bill", TextAt(device, "preset")) : named;
}

// A bill estimated from the dies and the memory, with the package that this kind of memory needs.
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

// The dies and the memory to price: those of a chip design, if the device has one.
struct Silicon {
  double area = 0;  // of one compute die, in mm^2; 0: not given
  Json count;
  std::string node, dram;
  bool is_designed = false;  // all of a design's nodes have the catalogue's wafers, so that they can be compared
};
Silicon SiliconOf(const Json& device) {
  const Json& design = Member(device, "design");
  const Json& die = Member(device, "die");
  if (design.is_object() && !design.empty()) {
    const auto& standard = Standard<ChipDesign>();
    const auto id = [&](const char* part) {
      const std::string preset = TextAt(Member(design, part), "preset");
      return preset.empty() ? TextAt(Member(design, part), "name") : preset;
    };
    const std::string node = id("node"), dram = id("dram");
    return {NumberOf(design, "area", standard.area.base()), 1, node.empty() ? standard.node.name : node,
            DramOf(dram.empty() ? standard.dram.name : dram), true};
  }
  return {NumberOf(die, "area", 0), Member(die, "count"), TextAt(die, "node"),
          DramOf(TextAt(device, "memory.technology"))};
}

// The maker's margin at the catalogue's price; a changed device is sold at this margin.
std::optional<double> CatalogueMargin(const std::string& id) {
  const std::optional<DeviceBill> bill = CatalogueBill(id);
  if (!bill || !bill->price) return std::nullopt;
  return MarginOf(PriceDevice(*bill, ComputeGeometry(*bill)));
}

// The device that the request prices, and the catalogue's device of its bill, whose dies and memory the bill describes.
struct PricedDevice {
  const Json& device;
  const Json* original;  // null if the catalogue has no such device
  Silicon silicon;
};

void FillDie(const PricedDevice& priced, Json& bill) {
  const Silicon& silicon = priced.silicon;
  Json& dies = bill["dies"];
  if (!dies.is_array() || dies.empty()) dies = Json::array({Json::object()});
  Json& die = dies[0];
  const Json& original_die = priced.original == nullptr ? kNothing : Member(*priced.original, "die");
  const double original_area = NumberOf(original_die, "area", 0);
  if (silicon.area > 0) die["area"] = silicon.area;
  if (!silicon.count.is_object()) die["count"] = silicon.count;
  // Presets are expanded under these members later, so a value of the bill's entry must be replaced, not erased.
  // A die of another area has as many units, larger or smaller; another node has its own wafers and defects.
  if (silicon.area > 0 && original_area > 0 && die.contains("unit_area"))
    die["unit_area"] = NumberOf(die, "unit_area", 0) * silicon.area / original_area;
  if (FindPreset("node", silicon.node) == nullptr) return;
  const bool is_other = priced.original != nullptr && silicon.node != TextAt(original_die, "node");
  if (is_other || silicon.is_designed) die["node"] = WithoutRemarks(*FindPreset("node", silicon.node));
  die["node"]["preset"] = silicon.node;
}

void FillMemory(const PricedDevice& priced, Json& bill) {
  const std::string& dram = priced.silicon.dram;
  Json& memory = bill["memory"];
  if (!memory.is_object()) memory = Json::object();
  const Json* original = priced.original;
  const std::string original_dram =
      original == nullptr ? dram : DramOf(TextAt(Member(*original, "memory"), "technology"));
  const bool same_memory = dram.empty() || dram == original_dram;
  if (!same_memory) {
    memory = Named(*FindPreset("dram", dram), dram);
  }
  const bool has_stacks = same_memory && memory.contains("stacks");
  if (TextAt(memory, "preset").empty() || !has_stacks) memory["preset"] = dram.empty() ? "hbm3" : dram;
  // The bill's stacks are those of the catalogue's device; another capacity needs another number of stacks.
  const double capacity = NumberOf(Member(priced.device, "memory"), "capacity", 0);
  const double original_capacity = original == nullptr ? 0 : NumberOf(Member(*original, "memory"), "capacity", 0);
  if (has_stacks && (capacity == original_capacity || original_capacity <= 0)) return;
  const Json* chip = FindPreset("dram", TextAt(memory, "preset"));
  const double usual =
      NumberOf(chip == nullptr ? kNothing : *chip, "stack_capacity", Standard<MemoryInput>().stack_capacity.base());
  const double stack = NumberOf(memory, "stack_capacity", usual);
  memory["stack_capacity"] = stack;
  memory["stacks"] = stack > 0 ? StacksFor(capacity / stack) : 1;
}

// If the memory is of another kind than the bill's, picks a package that carries it: HBM on an interposer, other chips
// on the board around a bare package.
void FillPackage(Json& bill) {
  const Json* memory = FindPreset("dram", TextAt(bill, "memory.preset"));
  const std::string usual = TextAt(bill, "package.preset");
  const Json* package = FindPreset("package", usual);
  if (memory == nullptr || package == nullptr) return;
  const bool in_package = Member(*memory, "in_package") == Json(true),
             holds = Member(*package, "holds_hbm") == Json(true);
  if (in_package && !holds) bill["package"] = Json{{"preset", "interposer"}};
  if (!in_package && holds && Member(bill, "dies").size() == 1 && NumberOf(bill["dies"][0], "count", 1) == 1)
    bill["package"] = Json{{"preset", "board"}};
}

// The catalogue's bill of the device, or an estimated one. `written`: the request's own bill.
Json DefaultBill(const Json& device, bool partitioned, const Json& written) {
  const std::string id = BillOf(device, written);
  const Json* entry = FindPreset("bill", id);
  const PricedDevice priced{device, FindPreset("device", id), SiliconOf(device)};
  Json bill = entry != nullptr ? Named(*entry, id) : EstimatedBill(device, priced.silicon.dram);
  FillDie(priced, bill);
  // The catalogue's price applies only to the catalogue's device.
  const bool designed = Member(device, "design").is_object() && !Member(device, "design").empty();
  const bool price_dropped = Member(written, "price").is_null() && written.contains("price");
  if (designed || partitioned || price_dropped) {
    if (const std::optional<double> margin = CatalogueMargin(id)) bill["margin"] = *margin;
    bill["price"] = nullptr;
    bill["price_year"] = nullptr;
  }
  FillMemory(priced, bill);
  FillPackage(bill);
  return bill;
}

// The network per device that the catalogue's server price includes: the cluster's network as in the catalogue.
void IncludeNetwork(const Json& networks, Json& system) {
  double fabric = 0, adapters = 0, power = 0;
  for (const Json& level : networks) {
    const double bandwidth = NumberOf(level, "bandwidth", 0);
    const Json* port = FindPreset("port", TextAt(level, "port.preset"));
    if (port == nullptr) continue;
    const double port_bandwidth = NumberOf(*port, "bandwidth", 0);
    if (port_bandwidth <= 0) {
      fabric = std::max(fabric, bandwidth);
      continue;
    }
    adapters = std::max(adapters, NumberOf(*port, "adapter_price", 0) * (bandwidth / port_bandwidth));
    power = std::max(power, NumberOf(*port, "adapter_power", 0) * (bandwidth / port_bandwidth));
  }
  system["fabric_included"] = fabric;
  system["adapters_included"] = adapters;
  system["adapter_power_included"] = power;
}

// Whether dies, stacks and package are those for which the catalogue quotes the package price.
bool IsPackagedAsQuoted(const Json& bill, const Json& entry, const Json* original, const Json& written) {
  const auto same = [](double a, double b) { return std::abs(a - b) <= kRoundingGuard * std::abs(b); };
  const auto part = [&](const Json& die, std::size_t place, const char* key, double otherwise) {
    const Json& usual = place == 0 && original != nullptr ? Member(*original, "die") : kNothing;
    return NumberOf(die, key, NumberOf(usual, key, otherwise));
  };
  const Json &dies = Member(bill, "dies"), &quoted = Member(entry, "dies");
  if (!dies.is_array() || !quoted.is_array() || dies.size() != quoted.size()) return false;
  for (std::size_t i = 0; i < dies.size(); ++i) {
    if (!same(part(dies[i], i, "area", 0), part(quoted[i], i, "area", 0))) return false;
    if (!same(part(dies[i], i, "count", 1), part(quoted[i], i, "count", 1))) return false;
    if (Member(dies[i], "stacked") != Member(quoted[i], "stacked")) return false;
  }
  const Json &memory = Member(bill, "memory"), &quoted_memory = Member(entry, "memory");
  if (TextAt(memory, "preset") != TextAt(quoted_memory, "preset")) return false;
  if (!same(NumberOf(memory, "stacks", 0), NumberOf(quoted_memory, "stacks", 0))) return false;
  const Json& package = Member(written, "package");
  for (const char* key : {"carrier", "substrate", "bumps", "steps"}) {
    if (package.is_object() && package.contains(key)) return false;
  }
  return TextAt(bill, "package.preset") == TextAt(entry, "package.preset");
}

// A die of another area than the catalogue's keeps its shape if the exposure field can hold it.
void ShapeDies(const Json& written, Json& bill) {
  const auto found = bill.find("dies");
  if (found == bill.end() || !found->is_array()) return;
  Json& dies = *found;
  const Json& written_dies = Member(written, "dies");
  for (std::size_t i = 0; i < dies.size(); ++i) {
    if (!dies[i].is_object()) continue;
    const bool is_written = written_dies.is_array() && i < written_dies.size() && written_dies[i].is_object() &&
                            written_dies[i].contains("aspect");
    const double area = NumberOf(dies[i], "area", 0);
    if (is_written || !(area > 0)) continue;
    const double aspect = NumberOf(dies[i], "aspect", Standard<DieInput>().aspect);
    if (!(aspect > 0)) continue;
    const double fitting = AspectThatFits(SquareMillimetres::FromBase(area), aspect, Standard<DeviceBill>().wafer);
    if (fitting != aspect) dies[i]["aspect"] = fitting;
  }
}

// A node that the request names has its own wafers and defects, not those of the catalogue's bill. A die of another
// area has as many units, larger or smaller.
void FitDies(const Json& written, Json& bill) {
  const Json& written_dies = Member(written, "dies");
  if (!written_dies.is_array() || !Member(bill, "dies").is_array()) return;
  Json& dies = bill["dies"];
  for (std::size_t i = 0; i < std::min(dies.size(), written_dies.size()); ++i) {
    const Json &die = written_dies[i], &node = Member(die, "node");
    const std::string id = node.is_string() ? TextOf(node) : TextAt(node, "preset");
    const Json* named = FindPreset("node", id);
    if (named != nullptr && id != TextAt(Member(dies[i], "node"), "preset")) dies[i]["node"] = Named(*named, id);
    const double area = NumberOf(die, "area", 0), usual = NumberOf(dies[i], "area", 0);
    if (area > 0 && usual > 0 && dies[i].contains("unit_area") && !die.contains("unit_area"))
      dies[i]["unit_area"] = NumberOf(dies[i], "unit_area", 0) * area / usual;
  }
}

// The catalogue's price of a device's usual package over what its parts cost, if it tells the price of `package`, too.
std::optional<double> PackagingRate(const std::string& id, const std::string& package) {
  std::optional<DeviceBill> usual = CatalogueBill(id);
  Json json{{"preset", package}};
  Issues issues;
  ExpandPresets<Package>(json, "", issues);
  Package other;
  Read(json, "", issues, other);
  if (!usual || !issues.empty() || !IsPricedAlike(other, usual->package)) return std::nullopt;
  PriceByParts(*usual);
  return RateOf(usual->package).base();
}

// A package other than the quoted one is priced by its parts, unless the request states a price.
void DropQuote(const Json& device, const Json& written, Json& bill) {
  const std::string id = BillOf(device, written);
  const Json* entry = FindPreset("bill", id);
  if (entry == nullptr || !Member(*entry, "package").contains("price")) return;
  const Json& own = Member(written, "package");
  const bool is_left_out = own.contains("price") && own["price"].is_null();
  if ((own.contains("price") && !is_left_out) || !Member(bill, "package").is_object()) return;
  if (!is_left_out && IsPackagedAsQuoted(bill, *entry, FindPreset("device", id), written)) return;
  Json& package = bill["package"];
  package["price"] = nullptr;
  if (IsSet(package, "price_factor")) return;
  if (const auto rate = PackagingRate(id, TextAt(package, "preset"))) package["price_factor"] = *rate;
}

// The catalogue's year is that of the catalogue's price, not of one that the request states.
void DropYear(const Json& written, Json& priced) {
  if (written.is_object() && written.contains("price") && !written.contains("price_year"))
    priced["price_year"] = nullptr;
}

Json DefaultSystem(const Json& cluster, const Json& written) {
  const std::string own = TextAt(cluster, "preset");
  const std::string named = TextAt(written, "preset"), id = named.empty() ? EntryFor("system", own) : named;
  const Json& networks = Member(cluster, "networks");
  const double innermost = networks.is_array() && !networks.empty() ? NumberOf(networks[0], "size", 8) : 1;
  Json system = FindPreset("system", id) != nullptr ? Json{{"preset", id}}
                                                    : Json{{"devices_per_host", std::clamp<double>(innermost, 1, 8)}};
  // A system that is usual for several clusters costs the same with each one's network.
  const Json* catalogue = FindPreset("cluster", named.empty() ? own : named);
  if (catalogue == nullptr) catalogue = FindPreset("cluster", named.empty() ? id : own);
  if (catalogue != nullptr) IncludeNetwork(Member(*catalogue, "networks"), system);
  return system;
}

}  // namespace

std::optional<double> NumberIn(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto measure = ParseMeasure(TextOf(json));
  return measure ? std::optional(measure->value) : std::nullopt;
}

Count StacksFor(double filled) { return static_cast<Count>(std::clamp<double>(WholeAbove(filled), 1, kMaxStacks)); }

std::string DramOf(const std::string& technology) {
  std::string id;
  for (const char c : technology) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return FindPreset("dram", id) != nullptr ? id : "";
}

bool IsSameValue(const Json& one, const Json& other) {
  const std::optional<double> a = NumberIn(one), b = NumberIn(other);
  return a && b ? std::abs(*a - *b) <= kRoundingGuard * std::abs(*a) : one == other;
}

void ApplyCostDefaults(const Json& cluster, bool partitioned, Json& cost) {
  if (!cost.is_object()) return;
  Json merged{{"device", DefaultBill(Member(cluster, "device"), partitioned, Member(cost, "device"))},
              {"system", DefaultSystem(cluster, Member(cost, "system"))}};
  FitDies(Member(cost, "device"), merged["device"]);
  MergeJson(merged, cost);
  if (Json& bill = merged["device"]; bill.is_object()) {
    const Json& written = Member(cost, "device");
    DropQuote(Member(cluster, "device"), written, bill);
    ShapeDies(written, bill);
    DropYear(written, bill);
    DropYear(Member(written, "memory"), bill["memory"]);
  }
  cost = std::move(merged);
}

void ApplyPrefillPoolDefaults(const Json& serving, Json& cost) {
  Json device = Member(Member(serving, "disaggregated"), "prefill_device");
  if (!cost.is_object() || !(device.is_string() || (device.is_object() && !device.empty()))) return;
  Issues unknown;  // reported where the device is read
  ExpandPresets<Device>(device, "", unknown);
  const std::string_view id = ClusterWith(TextAt(device, "preset"));
  Json cluster = id.empty() ? Json::object() : Named(*FindPreset("cluster", id), id);
  cluster["device"] = std::move(device);
  Json& pool = cost["prefill_pool"];
  if (pool.is_null()) pool = Json::object();
  ApplyCostDefaults(cluster, false, pool);
}

std::optional<DeviceBill> CatalogueBill(const std::string& id) {
  const Json* device = FindPreset("device", id);
  if (device == nullptr || FindPreset("bill", id) == nullptr) return std::nullopt;
  Json cluster{{"device", Named(*device, id)}}, cost = Json::object();
  ApplyCostDefaults(cluster, false, cost);
  Issues issues;
  DeviceBill bill;
  ExpandPresets<DeviceBill>(cost["device"], "", issues);
  Read(cost["device"], "", issues, bill);
  if (!issues.empty()) return std::nullopt;
  return bill;
}

}  // namespace slipstick
