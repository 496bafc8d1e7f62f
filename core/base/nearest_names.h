// Suggestions for an unknown name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

// Known names similar to a word, most similar first; may be empty.
std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace slipstick
