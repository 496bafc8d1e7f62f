// Mappings left to the tuner: {"auto": true, …pinned members}.
//
// They are settled while the request is read, before anything is evaluated, so that every verb sees a plain scenario.
// Chosen is within what the framework or engine can do (core/search/training_tuner.h, serving_tuner.h). With the
// mapping, what nobody wrote may follow: the global batch to a near multiple of the data-parallel ranks, recomputation
// from none to the least that fits, the serving devices to 2x, 4x … where the model does not fit. From version 3 on the
// batch moves only where no mapping that fits divides it or for a gain, and training keeps as much memory free as the
// interval of its memory asks, where a mapping can.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The members of an `auto` mapping that stay as written; none: the mapping is not `auto`.
using PinnedMembers = std::optional<std::vector<std::string>>;
struct AutoMappings {
  PinnedMembers training, serving;
};

// Takes "auto" out of the mappings of a request.
AutoMappings TakeAutoMappings(Json& request, Issues& issues);

// Model and cluster must be complete. `searched`: the part whose mapping a search chooses.
void SettleMappings(Scenario& scenario, const AutoMappings& autos, const Written& written, std::string_view searched);

// Appends the entries of "auto" to the described inputs.
void DescribeAuto(Json& inputs);

}  // namespace slipstick
