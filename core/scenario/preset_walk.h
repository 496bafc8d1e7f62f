// The objects of a resolved scenario that name a catalogue entry.
#pragma once

#include <functional>
#include <string>

#include "core/base/json.h"
#include "core/base/type.h"

namespace slipstick {

// An object at a path, and the entry that its `preset` names.
using PresetVisitor =
    std::function<void(const Json& held, const Json& entry, const internal::Type& type, const std::string& path)>;

// Visits them outermost first; `type` is that of `json`, at `path`.
void VisitPresets(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit);

}  // namespace slipstick
