// Dependence: which figures of a report move when an input does, measured by moving it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

// Moves each number of the resolved scenario a little up and down (counts by one, and doubled) and compares the
// reports:
// {"of": numbers, "inputs": [{"path", "figures": [paths of the figures that move by more than a millionth]}]}.
// Only the numbers at `input` or below it, "" for all, and of these the places `from` to before `to`: an answer of some
// hundred numbers takes a second, so callers may ask for a part at a time. What the core chose stays as it chose it:
// the resolved scenario states it.
Answer DependenceAnswer(std::string_view request, const std::vector<std::string>& assignments,
                        std::string_view input = "", std::size_t from = 0,
                        std::size_t to = static_cast<std::size_t>(-1));

}  // namespace slipstick
