// Makers of the fixes that an issue carries.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"

namespace slipstick {

Fix SetTo(std::string path, std::int64_t value);
Fix SetTo(std::string path, std::string_view name);
Fix SetToBase(std::string path, double base);  // in base units
Fix LeaveOut(std::string path);
// One fix per value.
Fixes SetToEach(const std::string& path, const std::vector<std::int64_t>& values);
Fixes SetToEach(const std::string& path, const std::vector<std::string>& names);
Fixes Joined(std::initializer_list<Fixes> parts);

}  // namespace slipstick
