// Sensitivity: how far a figure moves when one input changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

// The figure with each numeric input of the resolved scenario changed by ±`share`, ranked by effect, with the
// elasticity d ln(figure) / d ln(input) over the change and the exact one at the value (ElasticitiesOf). A share of 0
// takes no steps: the inputs to which the figure's explanation leads, with their exact elasticities alone, from one
// evaluation.
Answer SensitivityAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure,
                         double share);

}  // namespace slipstick
