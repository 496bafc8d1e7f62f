// Dependence: which figures of a report change with an input, found by changing the input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

// Changes each number of the resolved scenario slightly up and down (counts by one, and doubled) and compares the
// reports:
// {"of": numbers, "inputs": [{"path", "figures": [paths of the figures that move by more than a millionth]}]}.
// Changes only numbers at or below `input` ("" for all), and of these the indices `from` to before `to`: a few hundred
// numbers take a second, so callers may request a part at a time. The core's choices stay the same, because the
// resolved scenario states them.
Answer DependenceAnswer(std::string_view request, const std::vector<std::string>& assignments,
                        std::string_view input = "", std::size_t from = 0,
                        std::size_t to = static_cast<std::size_t>(-1));

}  // namespace slipstick
