// Mappings left to the tuner: {"auto": true, …pinned members}.
//
// They are settled while the request is read, before anything is evaluated, so that every command sees a plain
// scenario. The choice stays within what the framework or engine supports (core/search/training_tuner.h,
// serving_tuner.h). With the mapping, values that the request does not state may follow: the global batch moves to a
// near multiple of the data-parallel ranks, recomputation rises from none to the least that fits, the serving devices
// to 2x, 4x … if the model does not fit. From version 3 on, the batch moves only if no mapping that fits divides it or
// for a gain. Training then keeps free as much memory as the interval of its memory needs, if a mapping can.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// The members of an `auto` mapping that stay as written; no value: the mapping is not `auto`.
using PinnedMembers = std::optional<std::vector<std::string>>;
struct AutoMappings {
  PinnedMembers training, serving;
};

// Removes "auto" from the mappings of a request.
AutoMappings TakeAutoMappings(Json& request, Issues& issues);

// Model and cluster must be complete. `searched`: the part whose mapping is left to a search.
void SettleMappings(Scenario& scenario, const AutoMappings& autos, const Written& written, std::string_view searched,
                    Issues& issues);

// Appends the entries of "auto" to the described inputs.
void DescribeAuto(Json& inputs);

}  // namespace slipstick
