// What matters most: every input nudged up and down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

// How a figure answers to a change of `share` up and down of each numeric input of the resolved scenario, ranked; with
// the elasticity d ln(figure) / d ln(input) over the change.
Answer SensitivityAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure, double share);

}  // namespace slipstick
