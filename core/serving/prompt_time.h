// Passes over prompts: how they share steps with decoding, in how many chunks, and what one takes.
#pragma once

#include <string_view>

#include "core/engine_step/step_time.h"

namespace slipstick {

// Prompt tokens that a prefill computes, at least one; the other tokens hit the prefix cache.
struct PromptTokens {
  Ratio tokens = 1, cached = 0;
};
PromptTokens ComputedTokens(const ServingLoad& load);

inline constexpr std::string_view kPrefillStep = "scheduler overhead per prefill step";

// Whether prefill and decode never share a step.
inline bool PrefillsApart(const Deployment& deployment) {
  return !CompositionOf(deployment.engine).mixes_phases || deployment.mapping.pp > 1;
}

// Whether an engine prefills all waiting requests before it decodes again; decode steps then wait for each such pass
// and for the host that launches it.
inline bool TakesTurns(const Deployment& deployment) {
  return deployment.engine.scheduler.prefills_first && !deployment.load.tuning.collects;
}

// Maximum prompt tokens per step; with chunked prefill, the chunk size.
Ratio StepTokens(const Deployment& deployment);

// Prompts that fill a step: whole ones, at least one, unless the engine splits them.
Ratio FillStep(const Deployment& deployment, Ratio tokens);

// Number of steps in which a prompt is prefilled. Its last chunk shares a step with the next prompt.
Ratio ChunksOf(const Deployment& deployment, Ratio tokens);
// A chunk of mean KV length: chunks differ only in the tokens before them, and attention is linear in their number.
PromptTokens MeanChunk(const PromptTokens& prompt, Ratio chunks);

// One pass over `sequences` prompts, in chunks if the load has chunked prefill.
PassCost TimePrompt(const Deployment& deployment, Ratio sequences, const PromptTokens& prompt);

}  // namespace slipstick
