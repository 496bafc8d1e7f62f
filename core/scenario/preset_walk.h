// The objects of a resolved scenario that name a catalogue entry, or whose defaults form one.
#pragma once

#include <functional>
#include <string>

#include "core/base/json.h"
#include "core/base/type.h"

namespace slipstick {

// An object at a path, and its entry.
using PresetVisitor =
    std::function<void(const Json& held, const Json& entry, const internal::Type& type, const std::string& path)>;

// Visits these objects, outermost first; `type` is that of `json`, at `path`.
void VisitPresets(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit);
// The same for the entries that hold the defaults of objects.
void VisitStandards(const Json& json, const internal::Type& type, const std::string& path, const PresetVisitor& visit);

}  // namespace slipstick
