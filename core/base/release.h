// The release, named once for all: commands, schema, package and page take it from here.
#pragma once

#include <string_view>

namespace slipstick {

inline constexpr std::string_view kRelease = "1.2.0";

}  // namespace slipstick
