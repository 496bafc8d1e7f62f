#include "core/base/fix.h"

#include <utility>

#include "core/base/json.h"

namespace slipstick {

Fix SetTo(std::string path, std::int64_t value) { return {{std::move(path), std::to_string(value)}}; }
Fix SetTo(std::string path, std::string_view name) { return {{std::move(path), JsonText(Json(std::string(name)))}}; }
Fix SetToBase(std::string path, double base) { return {{std::move(path), JsonText(Json(base))}}; }
Fix LeaveOut(std::string path) { return {{std::move(path), ""}}; }

Fixes SetToEach(const std::string& path, const std::vector<std::int64_t>& values) {
  Fixes fixes;
  for (const std::int64_t value : values) fixes.push_back(SetTo(path, value));
  return fixes;
}

Fixes SetToEach(const std::string& path, const std::vector<std::string>& names) {
  Fixes fixes;
  for (const std::string& name : names) fixes.push_back(SetTo(path, name));
  return fixes;
}

Fixes Joined(std::initializer_list<Fixes> parts) {
  Fixes all;
  for (const Fixes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace slipstick
