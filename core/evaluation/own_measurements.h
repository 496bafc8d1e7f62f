// Moves a scenario to what the asker measured: "measured": [{"path": "serving.tpot_s", "value": "21 ms"}].
//
// A measurement sets one fitted parameter, the one that has to move least to explain it. The request then says which,
// and ParseScenario sets it wherever device and software are those measured: every answer moves with it. The mapping is
// that of the run that was measured: of a scenario left to the tuner, the one chosen before. `at` names the scenario
// that was measured where it is another one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

// As ReadRequest; each measurement that it lists says what explains it. Issues where no legal value of a parameter
// does.
Result<Json> ReadMeasuredRequest(std::string_view text, const std::vector<std::string>& assignments);

// Issues where an input that varies is one of a measurement, which moves the scenario before anything varies.
Issues IssuesOfVarying(std::string_view path);

}  // namespace slipstick
