// A search for a mapping for advice, over the members that practitioners vary: small enough to run many per second.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/advice/question.h"
#include "core/base/json.h"
#include "core/exploration/search_job.h"

namespace slipstick {

// Null if no mapping is legal. `request` already has the other changes; `scenario` is the resolved scenario that the
// advice is about, whose schedule, order of ranks, offload and batch are kept.
std::shared_ptr<SearchJob> MappingSearchFor(const Json& request, const Json& scenario, const AdviceQuestion& question,
                                            const std::vector<std::string>& limits);

// The members of a found mapping that differ from `scenario`; degrees that follow from others only if the request
// states them.
Json ChangedMembers(const Json& found, const Json& request, const Json& scenario);

// "TP 8 → 4, PP 4 → 2": how the mapping of a part changes between two resolved scenarios, except for the members in
// `said`.
std::string MappingChangesText(const std::string& part, const Json& before, const Json& after, const Json& said);

}  // namespace slipstick
