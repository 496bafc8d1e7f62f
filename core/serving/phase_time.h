// Prefill and decode times of a load's requests, from passes (step_time.h). One attention group with a number of
// running sequences.
#pragma once

#include "core/engine_step/phases.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/engine_step/step_time.h"

namespace slipstick {

// Whether no step both prefills and decodes.
inline bool PrefillsApart(const Deployment& deployment) {
  return !CompositionOf(deployment.engine).mixes_phases || deployment.mapping.pp > 1;
}

// A static batch splits evenly over the stages of a pipeline.
DecodeTimes TimeDecode(const Deployment& deployment, Ratio sequences, bool splits_evenly = false);
PrefillTimes TimePrefills(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// PrefillTimes::stall alone.
PrefillStall TimeStall(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// TimeDecode and TimePrefills, from the search's memo where there is one.
DecodeTimes DecodeOf(const Deployment& deployment, Ratio running);
PrefillTimes PrefillsOf(const Deployment& deployment, Ratio running, const DecodeTimes& decode);

// Decode steps of a request: one per output token, fewer where drafts are accepted or a block is written at once.
Ratio DecodeSteps(const Deployment& deployment);
// Tokens of a sequence in a decode step: with speculative decoding, drafts are verified with the next one; with block
// diffusion, the block.
Ratio CheckedTokens(const Deployment& deployment);
// Mean context of the output tokens.
Ratio MeanContext(const Deployment& deployment);

// Work of the host on a request before its prefill.
Seconds TimeRequest(const Deployment& deployment);

// Prompt tokens that a step takes at most: of a load with chunked prefill, a chunk.
Ratio StepTokens(const Deployment& deployment);

// Parts of a prompt that are prefilled in a step each. The last one shares its step with the prompt that follows.
Ratio ChunksOf(const Deployment& deployment, Ratio tokens);
// A chunk of mean KV length: chunks differ only in the tokens before them, and attention is linear in their number.
PromptTokens MeanChunk(const PromptTokens& prompt, Ratio chunks);

// One pass over `sequences` prompts, in chunks if the load asks for chunked prefill.
PassCost TimePrompt(const Deployment& deployment, Ratio sequences, const PromptTokens& prompt);

// Whether requests of equal length stay together, prefill after prefill: engines of the generation without CUDA graphs.
inline bool GroupsPrefills(const Deployment& deployment) {
  return deployment.engine.scheduler.groups_prefills && !deployment.launch.graphs;
}

}  // namespace slipstick
