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
// For a search over the mapping of a part ("training" or "serving"): the written mapping need not be legal, and values
// that depend on the pools that a serving search chooses (IdleSessionsOf) are absent.
Result<Scenario> ParseForSearch(Json request, std::string_view part);

// From version 3 on, a hit rate costs the memory of its prefixes. The time between two turns of a session is unknown.
// It is assumed to be as long as its requests run, unless the load states it or the number of kept prefixes.
std::optional<Ratio> IdleSessionsOf(const ServingLoad& load, Count version);

// The request without the parts that it turns off, as ParseScenario reads it: only images or clips.
Json AskedParts(Json request);
// The issue of a question about a part ("training", "serving") that is off; `asks_for_images`: off because of images.
Issue SwitchedOff(const std::string& part, bool asks_for_images);

// Checks a scenario built by code (search, sweeps) as ParseScenario does, and fills derived members.
void Resolve(Scenario& scenario, Issues& issues);

}  // namespace slipstick
