// Prefill and decode times of a load's requests, from passes (step_time.h), for one attention group with a number of
// running sequences.
#pragma once

#include "core/engine_step/phases.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/engine_step/step_time.h"

namespace slipstick {

// Whether prefill and decode never share a step.
inline bool PrefillsApart(const Deployment& deployment) {
  return !CompositionOf(deployment.engine).mixes_phases || deployment.mapping.pp > 1;
}

// Whether an engine prefills before it decodes, and at once whoever has come: its decode steps wait for each such pass
// and for the host that launches it.
inline bool TakesTurns(const Deployment& deployment) {
  return deployment.engine.scheduler.prefills_first && !deployment.load.tuning.collects;
}

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
// Mean context of the output tokens.
Ratio MeanContext(const Deployment& deployment);

// Host time for a request before its prefill.
Seconds TimeRequest(const Deployment& deployment);

// Maximum prompt tokens per step; with chunked prefill, the chunk size.
Ratio StepTokens(const Deployment& deployment);

// Number of steps in which a prompt is prefilled. Its last chunk shares a step with the next prompt.
Ratio ChunksOf(const Deployment& deployment, Ratio tokens);
// A chunk of mean KV length: chunks differ only in the tokens before them, and attention is linear in their number.
PromptTokens MeanChunk(const PromptTokens& prompt, Ratio chunks);

// One pass over `sequences` prompts, in chunks if the load has chunked prefill.
PassCost TimePrompt(const Deployment& deployment, Ratio sequences, const PromptTokens& prompt);

// Whether requests of equal length stay together, prefill after prefill: engines of the generation without CUDA graphs.
inline bool GroupsPrefills(const Deployment& deployment) {
  return deployment.engine.scheduler.groups_prefills && !deployment.launch.graphs;
}

}  // namespace slipstick
