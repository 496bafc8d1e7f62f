#include "core/scenario/preset_walk.h"

#include "core/base/type_path.h"
#include "core/catalogue/presets.h"

namespace slipstick {

void VisitPresets(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit) {
  if (!type.preset_kind.empty()) {
    const Json* preset = FindMember(json, "preset");
    const Json* entry =
        preset != nullptr && preset->is_string() ? FindPreset(type.preset_kind, TextOf(*preset)) : nullptr;
    if (entry != nullptr) visit(json, *entry, type, path);
  }
  const auto inner = [&](const Json& member, const std::string& key) {
    const internal::Type* inner_type = member.is_structured() ? internal::TypeAt(type, key) : nullptr;
    if (inner_type != nullptr) VisitPresets(member, *inner_type, JoinPath(path, key), visit);
  };
  if (json.is_object()) {
    for (const auto& [key, member] : json.items()) inner(member, key);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) inner(json[i], std::to_string(i));
  }
}

}  // namespace slipstick
