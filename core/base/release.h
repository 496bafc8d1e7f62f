// The release number, defined only here: commands, schema, package and page read it from here.
#pragma once

#include <string_view>

namespace slipstick {

inline constexpr std::string_view kRelease = "1.2.0";

}  // namespace slipstick
