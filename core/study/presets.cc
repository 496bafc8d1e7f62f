#include "core/study/presets.h"

#include <cassert>

#include "core/base/schema.h"

namespace slipstick {
namespace {

struct Entry {
  std::string kind, id;
  Json json;
};

constexpr std::string_view kPlainServer = "pcie-server";

// "single-X" is one device X with the networks of the first system that is built of it, else the slots of a PCIe server.
std::vector<Entry> SingleDevices(const std::vector<Entry>& catalogue) {
  std::vector<Entry> made;
  for (const Entry& device : catalogue) {
    if (device.kind != "device") continue;
    const Json part{{"preset", device.id}};
    const Entry* system = nullptr;
    for (const Entry& entry : catalogue) {
      if (entry.kind != "cluster" || entry.json.value("device", Json()) != part) continue;
      system = &entry;
      break;
    }
    for (const Entry& entry : catalogue) {
      if (system == nullptr && entry.kind == "cluster" && entry.id == kPlainServer) system = &entry;
    }
    if (system == nullptr) continue;
    Json json = system->json;
    if (system->id == kPlainServer) json["networks"].erase(json["networks"].begin() + 1, json["networks"].end());
    json["name"] = "One " + device.json.value("name", device.id);
    json["device"] = part;
    json["devices"] = 1;
    made.push_back({"cluster", "single-" + device.id, std::move(json)});
  }
  return made;
}

// Parsed once: the catalogue never changes while the program runs.
const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> made;
    for (const PresetText& preset : PresetTexts()) {
      Result<Json> json = ParseJson(preset.text);
      assert(json);
      made.push_back({std::string(preset.kind), std::string(preset.id), std::move(*json)});
    }
    for (Entry& single : SingleDevices(made)) made.push_back(std::move(single));
    return made;
  }();
  return entries;
}

}  // namespace

const Json* FindPreset(std::string_view kind, std::string_view id) {
  for (const Entry& entry : Entries()) {
    if (entry.id == id && entry.kind == kind) return &entry.json;
  }
  return nullptr;
}

std::string PresetHintText(std::string_view kind, std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Entry& entry : Entries()) {
    if (entry.kind == kind) ids.push_back(entry.id);
  }
  return internal::NearestText(id, ids);
}

Json PresetCatalogue(std::string_view kind) {
  Json list = Json::array();
  for (const Entry& entry : Entries()) {
    if (!kind.empty() && entry.kind != kind) continue;
    Json row{{"kind", entry.kind}, {"id", entry.id}};
    row.update(entry.json);
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace slipstick
