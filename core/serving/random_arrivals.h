// Requests that arrive at random, alone or as turns of sessions, at an engine in which each step prefills the prompts
// that arrived during an earlier step.
#pragma once

#include <optional>

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"

namespace slipstick {

// Time that prompts take of a group's steps. Turns of sessions differ: some find their context, others prefill it
// again, at any length.
struct ArrivingPrompts {
  Seconds added;                                   // mean, added to the steps that hold the prompts
  Seconds single;                                  // mean, added to a step that holds no other
  Seconds service;                                 // mean, plus decoding in all of their steps but one
  decltype(Seconds() * Seconds()) square_service;  // mean square of service
  Seconds pass;                                    // mean, of the prompts of a step that holds any
  Seconds beside;                                  // prefills that a step takes beside one, at most
  Seconds load;                                    // mean time to load a cached prefix, while others go on
};
// For a group with `running` sequences.
ArrivingPrompts ArrivingAt(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// Random arrivals of other requests at a group.
struct RandomArrivals {
  Hertz rate;
  Ratio found = 0;    // sequences running when a request arrives
  Ratio waiting = 0;  // share of requests that wait for a slot: they start when others end, not at random
};
// Of `all` at a group with `slots`, those that a request meets which has one of them: the requests of the other slots.
inline RandomArrivals OfOtherSlots(const RandomArrivals& all, Ratio slots) {
  const Ratio others = (slots - 1) / slots;
  return {all.rate * others, all.found * others, all.waiting};
}

// Sequences of a request's own steps among `all` at a group with `slots`; `decode`: steps with those that run in the
// mean.
Ratio OwnSequences(const Deployment& deployment, const RandomArrivals& all, Ratio slots, const DecodeTimes& decode,
                   const ArrivingPrompts& prompts);

// `prefill`: of a request that finds an idle engine. `service`: of its own prompt, if that is not the mean prompt.
RequestCycle RandomCycle(const Deployment& deployment, const RandomArrivals& arrivals, const DecodeTimes& decode,
                         Seconds prefill, const ArrivingPrompts& prompts,
                         std::optional<Seconds> service = std::nullopt);

}  // namespace slipstick
