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
  Seconds added;                                   // mean time that a prompt adds to its steps
  Seconds single;                                  // mean time that it adds to a step without other prompts
  Seconds service;                                 // mean of `added` plus decoding in all of the prompt's steps but one
  decltype(Seconds() * Seconds()) square_service;  // mean square of service
  Seconds pass;                                    // mean pass over the prompts of a step that has any
  Seconds beside;                                  // most prefills that a step takes besides one
  Seconds load;                                    // mean time to load a cached prefix while other requests go on
};
// For a group with `running` sequences.
ArrivingPrompts ArrivingAt(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// Random arrivals of other requests at a group.
struct RandomArrivals {
  Hertz rate;
  Ratio found = 0;    // sequences running when a request arrives
  Ratio waiting = 0;  // share of requests that wait for a slot: they start when others end, not at random
};
// The arrivals that a request meets if it holds one of `slots`: those of the other slots, out of `all`.
inline RandomArrivals OfOtherSlots(const RandomArrivals& all, Ratio slots) {
  const Ratio others = (slots - 1) / slots;
  return {all.rate * others, all.found * others, all.waiting};
}

// Sequences in a request's own steps, among the arrivals `all` at a group with `slots`. `decode`: for the mean number
// of running sequences.
Ratio OwnSequences(const Deployment& deployment, const RandomArrivals& all, Ratio slots, const DecodeTimes& decode,
                   const ArrivingPrompts& prompts);

// `prefill`: of a request that finds an idle engine. `service`: of the request's own prompt, if not the mean prompt.
RequestCycle RandomCycle(const Deployment& deployment, const RandomArrivals& arrivals, const DecodeTimes& decode,
                         Seconds prefill, const ArrivingPrompts& prompts,
                         std::optional<Seconds> service = std::nullopt);

}  // namespace slipstick
