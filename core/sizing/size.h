// The command `size`: what to buy for some traffic within latency targets, and its cost, on each of several clusters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/answer.h"

namespace slipstick {

// {"best": index or null, "clusters": [{"cluster", "holds", …}]} in the question's order; the
// best has the lowest cost per hour. `question`: the members of SizeQuestion (question.h).
Answer SizeAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question);
// The same for {"request": scenario?, …question}.
Answer SizeSpecAnswer(std::string_view spec);

}  // namespace slipstick
