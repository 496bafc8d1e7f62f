#include "core/study/presets.h"

#include <cassert>

#include "core/base/schema.h"

namespace slipstick {
namespace {

struct Entry {
  std::string_view kind, id;
  Json json;
};

// Parsed once: the catalogue never changes while the program runs.
const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> made;
    for (const PresetText& preset : PresetTexts()) {
      Result<Json> json = ParseJson(preset.text);
      assert(json);
      made.push_back({preset.kind, preset.id, std::move(*json)});
    }
    return made;
  }();
  return entries;
}

}  // namespace

const Json* FindPreset(std::string_view kind, std::string_view id) {
  for (const Entry& entry : Entries()) {
    if (entry.kind == kind && entry.id == id) return &entry.json;
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
