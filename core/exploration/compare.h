// Scenarios side by side: the inputs in which they differ, and every figure of each.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

struct ComparedScenario {
  std::string name;     // heading of its column
  std::string request;  // JSON; "": the default scenario
  std::vector<std::string> assignments;
  std::vector<std::string> changes{};  // further assignments, applied after measurements have moved the scenario
};

// {"columns": [name, …], "inputs": [{"path", "values"}], "figures": [{"path", "values"}], "infeasible": [{"column",
// "message"}], "warnings": the same}, with values in the order of the columns; null if a scenario has no such input or
// figure. Inputs below a catalogue entry whose name is listed are left out.
Answer CompareAnswer(const std::vector<ComparedScenario>& scenarios);

}  // namespace slipstick
