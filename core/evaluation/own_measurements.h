// Moves a scenario to the user's measurements: "measured": [{"path": "serving.tpot_s", "value": "21 ms"}].
//
// A measurement sets one fitted parameter: the one that explains it with the smallest change. The request records this
// parameter, and ParseScenario sets it wherever device and software are the measured ones, so every answer moves with
// it. The mapping is that of the measured run; if the tuner chooses it, the choice from before the move stays. `at`
// names the measured scenario if it is a different one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// As ReadRequest, but each listed measurement then states its explanation. Issues if no legal value explains one.
Result<Json> ReadMeasuredRequest(std::string_view text, const std::vector<std::string>& assignments);

// The request inside a question, as text; "" if it has none.
std::string RequestIn(const Json& question);

// Issues if a varied input is the parameter of a measurement: measurements move the scenario before anything varies.
Issues IssuesOfVarying(std::string_view path);

}  // namespace slipstick
