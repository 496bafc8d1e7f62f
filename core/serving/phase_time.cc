#include "core/serving/phase_time.h"

#include "core/base/figure.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/step_time.h"
#include "core/serving/first_passes.h"
#include "core/serving/load_model.h"
#include "core/serving/prefix_cache.h"

namespace slipstick {
namespace {

// Device time per prompt in a pass of `prompts_per_pass` prompts. `alone`: device time of a pass with one prompt.
Seconds ShareOfPass(const Deployment& deployment, Ratio prompts_per_pass, const PromptTokens& prompt, Seconds alone) {
  const Seconds occupancy = prompts_per_pass > 1 ? TimePrompt(deployment, prompts_per_pass, prompt).occupancy : alone;
  return Figure("Prefill time per prompt", (occupancy + deployment.engine.overhead.prefill_step) / prompts_per_pass,
                "of a pass with several prompts and the engine's overhead of that step", kClosedLoopSource);
}

// Prompts in a step that decodes and prefills. Without grouping, as many as requests end in a step.
Ratio MixedPrompts(const Deployment& deployment, Ratio ending, Ratio prompts_per_pass, Ratio chunks) {
  if (chunks > 1) return 1;
  if (GroupsPrefills(deployment)) return prompts_per_pass;
  return Figure("Prompts prefilled in a decode step", min(prompts_per_pass, max(1.0, ending)),
                "as many as requests end in a step");
}

// For engines whose prefill passes and decode steps take turns: a pass takes the prompts that came since the last one.
PrefillStall StallInTurn(const Deployment& deployment, Ratio running, const DecodeTimes& decode) {
  const PromptTokens prompt = ComputedTokens(deployment.load);
  const Ratio most = max(1.0, floor(min(running, StepTokens(deployment) / prompt.tokens))),
              prompts = PromptsOfPass(deployment, WholeStep(deployment, decode), running / DecodeSteps(deployment),
                                      most, prompt);
  return {Figure("Decode stall per prompt", MeanPass(deployment, prompts, most, prompt) / prompts,
                 "nothing decodes while a pass is launched and runs"),
          Seconds{}};
}

// The time by which one prompt lengthens the steps that prefill it.
PrefillStall StallOf(const Deployment& deployment, Ratio running, Ratio prompts_per_pass, const DecodeTimes& decode,
                     Seconds shared_prefill) {
  if (PrefillsApart(deployment)) return {shared_prefill, Seconds{}};  // nothing decodes in a step with prefill
  if (TakesTurns(deployment)) return StallInTurn(deployment, running, decode);
  const PromptTokens prompt = ComputedTokens(deployment.load);
  const Ratio steps = DecodeSteps(deployment), chunks = ChunksOf(deployment, prompt.tokens),
              prompts = MixedPrompts(deployment, running / steps, prompts_per_pass, chunks);
  const PromptTokens chunk = MeanChunk(prompt, chunks);
  const MixedPass pass{DecodePassOf(deployment, running), {prompts, chunk.tokens, chunk.cached}};
  const Seconds mixed_step = TimeOf(pass, deployment), decode_step = decode.step.time;
  // More prompts than steps: every step prefills, and prefill-only passes run between steps.
  const Ratio passes =
      Figure("Passes with prefill per decode step", chunks * running / (steps * prompts), "in steady state");
  const Seconds replaced = Figure("Decode-only steps in whose place a prefill comes",
                                  chunks * min(mixed_step, decode_step) / (max(1, passes) * prompts), "per prompt");
  const Seconds prefill_pass = Figure("A pass that only prefills", min(mixed_step, prompts / chunks * shared_prefill),
                                      "no longer than one that decodes too");
  const Seconds stall = Figure("Decode stall per prompt",
                               chunks * (max(mixed_step - decode_step, Seconds{}) + max(0, passes - 1) * prefill_pass) /
                                   (max(1, passes) * prompts),
                               "a mixed step less a decode-only step");
  if (!deployment.load.prefix_cache) return {stall, replaced};
  const PrefixLoad load = LoadPrefixes(deployment, prompts, prompt.cached, mixed_step);
  const Seconds waited = deployment.engine.scheduler.loads_apart
                             ? Figure("Load of cached prefixes that the link has not finished",
                                      max(Seconds{}, load.time / prompts - (steps * decode_step / running + stall)),
                                      "beyond the time between two prompts")
                             : load.stalls / prompts;
  if (!(waited > Seconds{})) return {stall, replaced};
  return {Figure("Decode stall per prompt", stall + waited, "with the load of its cached prefix"), replaced};
}

// Prompts that the engine admits to one pass; a mean, if no step also decodes or if the engine splits prompts.
Ratio PromptsPerPass(const Deployment& deployment, Ratio running) {
  const Ratio tokens = ComputedTokens(deployment.load).tokens;
  constexpr std::string_view kTitle = "Prompts per pass",
                             kNote = "as the engine's token limit per step allows, at most the running requests";
  if (PrefillsApart(deployment))
    return Figure(kTitle, min(max(1.0, StepTokens(deployment) / tokens), max(1.0, running)), kNote, kClosedLoopSource);
  return Figure(kTitle, min(max(1.0, FillStep(deployment, tokens)), max(1.0, floor(running))), kNote,
                kClosedLoopSource);
}

}  // namespace

Seconds TimeRequest(const Deployment& deployment) {
  const EngineOverhead& overhead = deployment.engine.overhead;
  const Seconds of_tokens = Ratio(deployment.load.prompt) * overhead.per_prompt_token;
  constexpr std::string_view kTitle = "Request handling by the host";
  if (deployment.engine.plain) {
    return Figure(kTitle, overhead.per_request + of_tokens,
                  "of a request, and of the tokens of its prompt, cached ones too");
  }
  return Figure(kTitle, overhead.per_request * deployment.load.tuning.host + of_tokens,
                "of a request as the engine is run, and of the tokens of its prompt, cached ones too");
}

PrefillTimes TimePrefills(const Deployment& deployment, Ratio running, const DecodeTimes& decode) {
  PrefillTimes times;
  const PromptTokens prompt = ComputedTokens(deployment.load);
  const Seconds prefill_step = deployment.engine.overhead.prefill_step;
  times.alone = TimePrompt(deployment, 1, prompt);
  times.first = Figure("Prefill of one prompt", times.alone.time + prefill_step,
                       "with the engine's overhead of that step", kClosedLoopSource);
  times.alone.operators.Add(kPrefillStep, Waiting(prefill_step), 1);
  const Ratio prompts_per_pass = PromptsPerPass(deployment, running);
  times.shared = ShareOfPass(deployment, prompts_per_pass, prompt, times.alone.occupancy);
  times.stall = StallOf(deployment, running, prompts_per_pass, decode, times.shared);
  return times;
}

PrefillTimes PrefillsOf(const Deployment& deployment, Ratio running, const DecodeTimes& decode) {
  const auto time_prefills = [&] { return TimePrefills(deployment, running, decode); };
  return deployment.memo == nullptr ? time_prefills()
                                    : deployment.memo->Prefill(deployment.load, running, time_prefills);
}

}  // namespace slipstick
