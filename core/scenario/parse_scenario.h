// From a request to a scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The only way from a request to a Scenario: expands presets, reads and checks members, moves unwritten defaults to
// legal values, and reports contradictions between the rest.
Result<Scenario> ParseScenario(Json request);
// For a search over the mapping of a part ("training" or "serving"): the written mapping need not be legal, and what
// follows from the pools that a serving search chooses (IdleSessionsOf) is absent.
Result<Scenario> ParseForSearch(Json request, std::string_view part);

// From version 3 on a hit rate costs the prefixes that it needs. Nobody knows how long a session waits between two
// turns: as long as its requests run, unless the load says so itself or how many prefixes are kept.
std::optional<Ratio> IdleSessionsOf(const ServingLoad& load, Count version);

// The request without the parts that it does not ask for, as ParseScenario reads it: images or clips alone.
Json AskedParts(Json request);
// The issue of a question about a part ("training", "serving") that is off; `asks_for_images`: because of them.
Issue SwitchedOff(const std::string& part, bool asks_for_images);

// Checks a scenario built by code (search, sweeps) as ParseScenario does, and fills derived members.
void Resolve(Scenario& scenario, Issues& issues);

}  // namespace slipstick
