// What someone may have meant who wrote a name that is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

// The known names nearest to a word, the nearest first; none where none is near.
std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace slipstick
