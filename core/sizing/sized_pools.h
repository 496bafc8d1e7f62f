// What a traffic needs with prefill and decode on a pool of devices each, beside what it needs on one pool.
#pragma once

#include "core/base/json.h"
#include "core/sizing/question.h"
#include "core/sizing/sizing_problem.h"

namespace slipstick {

// {"holds": true, "deployment", "at_peak", "cost", "saves", "overrides"}, or {"holds": false, "reason", "message"}.
// `problem` and `on_one` are those of one pool. The device of the prefill pool is the request's, where it names one.
Json SizeOnTwoPools(const Json& request, const SizeQuestion& question, const SizingProblem& problem,
                    const Json& on_one);

}  // namespace slipstick
