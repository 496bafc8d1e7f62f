// Sizes separate pools of devices for prefill and decode, for comparison with a single pool.
#pragma once

#include "core/base/json.h"
#include "core/sizing/question.h"
#include "core/sizing/sizing_problem.h"

namespace slipstick {

// {"holds": true, "deployment", "at_peak", "cost", "saves", "remarks", "classes", "day", "overrides"}, or {"holds":
// false, "reason", "message"}.
// `problem` and `on_one` are for a single pool. The request states the device of the prefill pool if it differs.
Json SizeOnTwoPools(const Json& request, const SizeQuestion& question, const SizingProblem& problem,
                    const Json& on_one);

}  // namespace slipstick
