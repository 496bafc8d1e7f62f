// Prefill and decode times of a load's requests, from passes (step_time.h), for one attention group with a number of
// running sequences.
#pragma once

#include "core/engine_step/phases.h"
#include "core/serving/prompt_time.h"

namespace slipstick {

// A static batch splits evenly over the stages of a pipeline.
DecodeTimes TimeDecode(const Deployment& deployment, Ratio sequences, bool splits_evenly = false);
PrefillTimes TimePrefills(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// TimeDecode and TimePrefills, from the search's memo if there is one.
DecodeTimes DecodeOf(const Deployment& deployment, Ratio running);
PrefillTimes PrefillsOf(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// Decode steps of a request: one per output token; fewer if drafts are accepted or a block is written at once.
Ratio DecodeSteps(const Deployment& deployment);
// Tokens of a sequence in a decode step: with speculative decoding, drafts are verified with the next one; with block
// diffusion, the block.
Ratio CheckedTokens(const Deployment& deployment);
// A decode step of the load's requests, in the mean over their output tokens.
DecodePass DecodePassOf(const Deployment& deployment, Ratio sequences);
// All the tokens that a decode step yields for a sequence take this long.
Seconds WholeStep(const Deployment& deployment, const DecodeTimes& decode);

// Host time for a request before its prefill.
Seconds TimeRequest(const Deployment& deployment);

// Whether requests of equal length stay together, prefill after prefill: engines of the generation without CUDA graphs.
inline bool GroupsPrefills(const Deployment& deployment) {
  return deployment.engine.scheduler.groups_prefills && !deployment.launch.graphs;
}

}  // namespace slipstick
