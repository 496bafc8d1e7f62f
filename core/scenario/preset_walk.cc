#include "core/scenario/preset_walk.h"

#include "core/base/type_path.h"
#include "core/catalogue/presets.h"

namespace slipstick {
namespace {

// Returns the entry of an object; null if it has none.
using EntryOf = const Json* (*)(const Json& json, const internal::Type& type);

const Json* NamedPreset(const Json& json, const internal::Type& type) {
  return type.preset_kind.empty() ? nullptr : FindPreset(type.preset_kind, TextAt(json, "preset"));
}

const Json* StandardPreset(const Json& json, const internal::Type& type) {
  return json.is_object() && !type.standard_id.empty() ? FindPreset("standard", type.standard_id) : nullptr;
}

void Visit(const Json& json, const internal::Type& type, const std::string& path, EntryOf entry_of,
           const PresetVisitor& visit) {
  if (const Json* entry = entry_of(json, type)) visit(json, *entry, type, path);
  const auto inner = [&](const Json& member, const std::string& key) {
    const internal::Type* inner_type = member.is_structured() ? internal::TypeAt(type, key) : nullptr;
    if (inner_type != nullptr) Visit(member, *inner_type, JoinPath(path, key), entry_of, visit);
  };
  if (json.is_object()) {
    for (const auto& [key, member] : json.items()) inner(member, key);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) inner(json[i], std::to_string(i));
  }
}

}  // namespace

void VisitPresets(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit) {
  Visit(json, type, path, NamedPreset, visit);
}

void VisitStandards(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit) {
  Visit(json, type, path, StandardPreset, visit);
}

}  // namespace slipstick
