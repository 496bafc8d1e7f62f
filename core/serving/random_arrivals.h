// Requests that arrive at random, alone or as turns of sessions, at an engine whose every step takes the prompts that
// came while one before it ran.
#pragma once

#include <optional>

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"

namespace slipstick {

// What prompts take of a group's steps. Turns of sessions differ: they find their context, or prefill it again, at any
// length.
struct ArrivingPrompts {
  Seconds added;                                   // mean, to the steps that hold them
  Seconds service;                                 // mean, with the decoding in all of their steps but one
  decltype(Seconds() * Seconds()) square_service;  // mean square of that
  Seconds full_step;                               // prefills of a step that takes no more
  Seconds load;                                    // of a cached prefix, mean, while others go on
};
// At a group with `running` sequences.
ArrivingPrompts ArrivingAt(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// Of other requests, at a group.
struct RandomArrivals {
  Hertz rate;
  Ratio found = 0;    // running when one arrives
  Ratio waiting = 0;  // share of those that wait for a slot: they come when others end, not at random
};
// `prefill`: of a request that finds nobody. `service`: of its own prompt, where that is not the mean one.
RequestCycle RandomCycle(const Deployment& deployment, const RandomArrivals& arrivals, const DecodeTimes& decode,
                         Seconds prefill, const ArrivingPrompts& prompts,
                         std::optional<Seconds> service = std::nullopt);

}  // namespace slipstick
