#include "core/serving/prompt_time.h"

#include "core/base/figure.h"
#include "core/engine_step/step_limits.h"
#include "core/serving/prefix_cache.h"

namespace slipstick {
namespace {

// Passes one after the other: each follows the previous one stage by stage.
PassCost InPasses(const Deployment& deployment, const PrefillPass& pass, Ratio passes) {
  PassCost step = TimeOf(pass, deployment);
  if (passes <= 1) return step;
  const Seconds time = step.time, occupancy = step.occupancy, prefill_step = deployment.engine.overhead.prefill_step;
  const Seconds fill = Figure("Other stages of a pass", time - occupancy, "that the next one does not wait for");
  step.time = Figure("Prefill in several passes", fill + passes * occupancy + (passes - 1) * prefill_step,
                     "each follows the one before stage by stage; chunks of a prompt over the KV cache of those before",
                     "SGLang, chunked pipeline parallelism (LMSYS, 2026-01-15); vLLM pull request 42187");
  step.occupancy =
      Figure("Prefill in several passes on the slowest stage", passes * occupancy + (passes - 1) * prefill_step);
  step.fixed = Figure("Host's time for all passes", passes * step.fixed);
  step.operators.Repeat(Figure("Passes one after the other", 1 + (passes - 1) * (occupancy / time),
                               "those that overlap on other stages do not count"));
  step.operators.Add(kPrefillStep, Waiting(prefill_step), passes - 1);
  return step;
}

// Computes the prompts, in chunks or passes.
PassCost ComputePrompts(const Deployment& deployment, Ratio sequences, const PromptTokens& prompt) {
  const Ratio chunks = ChunksOf(deployment, prompt.tokens);
  if (chunks > 1) {
    const PromptTokens chunk = MeanChunk(prompt, chunks);
    // Through a pipeline the chunks of all prompts follow each other.
    const Ratio together = deployment.mapping.pp > 1 ? Ratio(1) : sequences;
    return InPasses(deployment, {together, chunk.tokens, chunk.cached}, chunks * (sequences / together));
  }
  if (deployment.mapping.pp <= 1 || sequences <= 1)
    return TimeOf(PrefillPass{sequences, prompt.tokens, prompt.cached}, deployment);
  const Ratio passes = Figure("Passes of the prompts through the pipeline",
                              min(sequences, max(1.0, sequences * prompt.tokens / StepTokens(deployment))),
                              "each takes as many tokens as the engine's limit per step, the last one the rest");
  return InPasses(deployment, {Figure("Prompts per pass", sequences / passes), prompt.tokens, prompt.cached}, passes);
}

}  // namespace

Ratio ChunksOf(const Deployment& deployment, Ratio tokens) {
  if (!SplitsPrompts(deployment.load)) return 1;
  return Figure("Chunks of a prompt", max(1.0, tokens / StepTokens(deployment)),
                "one step each; the last one shares its step with the prompt that follows");
}

PromptTokens MeanChunk(const PromptTokens& prompt, Ratio chunks) {
  if (chunks <= 1) return prompt;
  const Ratio tokens = Figure("Tokens of a chunk", prompt.tokens / chunks);
  return {tokens,
          Figure("Tokens before a chunk", prompt.cached + (prompt.tokens - tokens) / 2, "mean over the chunks")};
}

PromptTokens ComputedTokens(const ServingLoad& load) {
  const Ratio prompt(load.prompt);
  const Ratio tokens = Figure("Prompt tokens computed", max(1.0, ceil(prompt * (1 - load.prefix_hit))),
                              "the others hit the prefix cache");
  return {tokens, Figure("Prompt tokens in the prefix cache", prompt - tokens)};
}

Ratio StepTokens(const Deployment& deployment) {
  const StepLimit limit = StepTokensOf(deployment.load, deployment.cluster.device);
  const Ratio stated = deployment.InputAt(limit.path, Ratio(limit.stated));
  if (limit.groups == 1) return stated;
  return Figure("Prompt tokens of a step", stated / deployment.mapping.attention_dp,
                "the engine's default, which the groups of data-parallel attention divide");
}

Ratio FillStep(const Deployment& deployment, Ratio tokens) {
  const Ratio prompts = StepTokens(deployment) / tokens;
  return Figure("Prompts that fill a step", SplitsPrompts(deployment.load) ? prompts : max(1, floor(prompts)),
                "whole ones, unless the engine splits them");
}

PassCost TimePrompt(const Deployment& deployment, Ratio sequences, const PromptTokens& prompt) {
  PassCost pass = ComputePrompts(deployment, sequences, prompt);
  if (!deployment.load.prefix_cache) return pass;
  const PrefixLoad load = LoadPrefixes(deployment, sequences, prompt.cached, pass.time);
  if (!(load.exposed > Seconds{})) return pass;
  pass.load = load;
  pass.time = Figure("Prefill with the load of cached prefixes", pass.time + load.exposed);
  pass.occupancy = Figure("Slowest stage with the load of cached prefixes", pass.occupancy + load.stalls);
  pass.operators.Add(kPrefixFromHost, NetworkTime(load.exposed), 1);
  return pass;
}

}  // namespace slipstick
