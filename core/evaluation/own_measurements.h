// Moves a scenario to the user's measurements: "measured": [{"path": "serving.tpot_s", "value": "21 ms"}].
//
// A measurement sets one fitted parameter: the one that needs the smallest change to explain it. The request then
// records this parameter, and ParseScenario sets it wherever device and software are the measured ones, so every answer
// moves with it. The mapping is that of the measured run; if the scenario leaves it to the tuner, it is the one chosen
// before the move. `at` names the measured scenario if it is another one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// As ReadRequest; each listed measurement then states its explanation. Returns issues if no legal value of a parameter
// explains one.
Result<Json> ReadMeasuredRequest(std::string_view text, const std::vector<std::string>& assignments);

// Issues if a varied input is the parameter of a measurement: measurements move the scenario before anything varies.
Issues IssuesOfVarying(std::string_view path);

}  // namespace slipstick
