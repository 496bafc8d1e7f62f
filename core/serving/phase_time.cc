#include "core/serving/phase_time.h"

#include "core/engine_step/memo.h"
#include "core/engine_step/mixed_step.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/step_limits.h"
#include "core/engine_step/step_time.h"
#include "core/serving/prefix_cache.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource =
    "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

// Devices' time per prompt in a pass of `prompts_per_pass` prompts. `alone`: devices' time of a pass of one.
Seconds ShareOfPass(const Deployment& deployment, double prompts_per_pass, const PromptTokens& prompt, Seconds alone,
                    Trace& trace) {
  const Trace::Scope scope(trace, "together");
  const Seconds prefill_step = deployment.engine.overhead.prefill_step;
  trace.Alias("sequences", prompts_per_pass, "prompts_per_pass");
  const Seconds occupancy =
      prompts_per_pass > 1 ? TimePrompt(deployment, prompts_per_pass, prompt.tokens, prompt.cached, trace).occupancy
                           : alone;
  FIGURE(trace, shared_prefill, (occupancy + prefill_step) / prompts_per_pass,
         (Note{"Prefill time per prompt", "of a pass with several prompts and the engine's overhead of that step",
               kSource}),
         occupancy, prefill_step, prompts_per_pass);
  return shared_prefill;
}

// Parts of a prompt that are prefilled in a step each. The last one shares its step with the prompt that follows.
double ChunksOf(const Deployment& deployment, double tokens, Trace& trace) {
  if (!SplitsPrompts(deployment.load))
    return trace.Constant("chunks", 1.0, "serving.scheduler", "a prompt is prefilled whole");
  const double step_tokens = StepTokens(deployment, trace);
  FIGURE(trace, chunks, max(1.0, tokens / step_tokens),
         (Note{"Chunks of a prompt", "one step each; the last one shares its step with the prompt that follows"}),
         tokens, step_tokens);
  return chunks;
}

// A chunk of mean KV length: chunks differ only in the tokens before them, and attention is linear in their number.
PromptTokens MeanChunk(const PromptTokens& prompt, double chunks, Trace& trace) {
  if (chunks <= 1) return prompt;
  const double tokens = prompt.tokens, cached = prompt.cached;
  FIGURE(trace, chunk_tokens, tokens / chunks, (Note{"Tokens of a chunk", ""}), tokens, chunks);
  FIGURE(trace, chunk_cached, cached + (tokens - chunk_tokens) / 2,
         (Note{"Tokens before a chunk", "mean over the chunks"}), cached, tokens, chunk_tokens);
  trace.Alias("tokens", chunk_tokens, "chunk_tokens");
  trace.Alias("cached", chunk_cached, "chunk_cached");
  return {chunk_tokens, chunk_cached};
}

// Prompts of a step that decodes and prefills. Without grouping, as many as requests end in a step.
double MixedPrompts(const Deployment& deployment, double running, double steps, double prompts_per_pass, double chunks,
                    Trace& trace) {
  if (chunks > 1) return trace.Constant("prompts", 1.0, "serving.scheduler", "a step prefills one chunk");
  if (GroupsPrefills(deployment)) {
    trace.Alias("prompts", prompts_per_pass, "prompts_per_pass");
    return prompts_per_pass;
  }
  FIGURE(trace, prompts, min(prompts_per_pass, max(1.0, running / steps)),
         (Note{"Prompts prefilled in a decode step", "as many as requests end in a step"}), prompts_per_pass, running,
         steps);
  return prompts;
}

// Nothing decodes in a step with prefill.
PrefillStall WholeStall(Seconds shared_prefill, Trace& trace) {
  trace.Alias("prefill_stall", shared_prefill, "shared_prefill");
  FIGURE(trace, replaced_steps, 0 * shared_prefill,
         (Note{"Decode-only steps in whose place a prefill comes", "none: it decodes nothing"}), shared_prefill);
  return {shared_prefill, replaced_steps};
}

// A prompt's part of the steps that hold prefills.
PrefillStall StallOf(const Deployment& deployment, double running, double prompts_per_pass, const PromptTokens& prompt,
                     const DecodeTimes& decode, Seconds shared_prefill, Trace& trace) {
  if (PrefillsApart(deployment)) return WholeStall(shared_prefill, trace);
  const auto output = static_cast<double>(deployment.load.output);
  const double steps = DecodeSteps(deployment, trace);
  const double chunks = ChunksOf(deployment, prompt.tokens, trace);
  const double prompts = MixedPrompts(deployment, running, steps, prompts_per_pass, chunks, trace);
  const PromptTokens chunk = MeanChunk(prompt, chunks, trace);
  MixedPass pass;
  pass.decode = {running, MeanContext(deployment, trace), CheckedTokens(deployment, trace), output};
  pass.prompts = prompts;
  pass.tokens = chunk.tokens;
  pass.cached = chunk.cached;
  trace.Alias("sequences", running, "running");
  const Seconds mixed_step = TimeOf(pass, deployment, trace), decode_step = decode.step.time;
  // More prompts than steps: every step prefills, and prefill-only passes run in between.
  FIGURE(trace, passes, chunks * running / (steps * prompts),
         (Note{"Passes with prefill per decode step", "in steady state"}), chunks, running, steps, prompts);
  FIGURE(trace, replaced_steps, chunks * min(mixed_step, decode_step) / (max(1, passes) * prompts),
         (Note{"Decode-only steps in whose place a prefill comes", "per prompt"}), chunks, mixed_step, decode_step,
         passes, prompts);
  FIGURE(trace, prefill_pass, min(mixed_step, prompts / chunks * shared_prefill),
         (Note{"A pass that only prefills", "no longer than one that decodes too"}), mixed_step, prompts, chunks,
         shared_prefill);
  FIGURE(trace, prefill_stall,
         chunks * (max(mixed_step - decode_step, 0 * mixed_step) + max(0, passes - 1) * prefill_pass) /
             (max(1, passes) * prompts),
         (Note{"Decode stall per prompt", "a mixed step less a decode-only step"}), chunks, mixed_step, decode_step,
         passes, prefill_pass, prompts);
  if (!deployment.load.prefix_cache) return {prefill_stall, replaced_steps};
  const Seconds exposed_load =
      LoadPrefixes(deployment, prompts, prompt.cached, mixed_step, "mixed_step", trace).exposed;
  if (!(exposed_load > Seconds{})) return {prefill_stall, replaced_steps};
  trace.Alias("computed_stall", prefill_stall, "prefill_stall");
  const Seconds computed_stall = prefill_stall, all = computed_stall + exposed_load / prompts;
  trace.Record("prefill_stall", "computed_stall + exposed_load / prompts", all,
               Note{"Decode stall per prompt", "with the load of its cached prefix"},
               "computed_stall, exposed_load, prompts", computed_stall, exposed_load, prompts);
  return {all, replaced_steps};
}

// Prompts that the engine admits to one pass: whole ones, in the mean as many as fill it where no step decodes too.
double PromptsPerPass(const Deployment& deployment, double running, double tokens, Trace& trace) {
  const double step_tokens = StepTokens(deployment, trace);
  constexpr Note kNote{"Prompts per pass", "as the engine's token limit per step allows, at most the running requests",
                       kSource};
  if (PrefillsApart(deployment)) {
    FIGURE(trace, prompts_per_pass, min(max(1.0, step_tokens / tokens), max(1.0, running)), kNote, step_tokens, tokens,
           running);
    return prompts_per_pass;
  }
  FIGURE(trace, prompts_per_pass, min(max(1.0, floor(step_tokens / tokens)), max(1.0, floor(running))), kNote,
         step_tokens, tokens, running);
  return prompts_per_pass;
}

// A prompt in a pass of its own.
PassCost TimeAlone(const Deployment& deployment, const PromptTokens& prompt, Trace& trace) {
  const double sequences = trace.Constant("sequences", 1.0, "serving.prefill_pass", "a prompt in a pass of its own");
  return TimePrompt(deployment, sequences, prompt.tokens, prompt.cached, trace);
}

// Passes one after the other: each follows the one before stage by stage. `chunks` is their number in figures.
PassCost InPasses(const Deployment& deployment, const PrefillPass& pass, double chunks, Trace& trace) {
  PassCost step = TimeOf(pass, deployment, trace);
  if (chunks <= 1) return step;
  const Seconds pass_time = step.time, occupancy = step.occupancy,
                prefill_step = deployment.engine.overhead.prefill_step;
  FIGURE(trace, fill, pass_time - occupancy, (Note{"Other stages of a pass", "that the next one does not wait for"}),
         pass_time, occupancy);
  FIGURE(trace, chunked_time, fill + chunks * occupancy + (chunks - 1) * prefill_step,
         (Note{"Prefill in several passes",
               "each follows the one before stage by stage; chunks of a prompt over the KV cache of those before",
               "SGLang, chunked pipeline parallelism (LMSYS, 2026-01-15); vLLM pull request 42187"}),
         fill, chunks, occupancy, prefill_step);
  FIGURE(trace, chunked_occupancy, chunks * occupancy + (chunks - 1) * prefill_step,
         (Note{"Prefill in several passes on the slowest stage", ""}), chunks, occupancy, prefill_step);
  const Seconds fixed_time = step.fixed;
  FIGURE(trace, chunked_fixed, chunks * fixed_time, (Note{"Host's time for all passes", ""}), chunks, fixed_time);
  FIGURE(trace, in_turn, 1 + (chunks - 1) * (occupancy / pass_time),
         (Note{"Passes one after the other", "those that overlap on other stages do not count"}), chunks, occupancy,
         pass_time);
  step.time = chunked_time;
  step.occupancy = chunked_occupancy;
  step.fixed = chunked_fixed;
  trace.Alias("pass_time", step.time, "chunked_time");
  trace.Alias("occupancy", step.occupancy, "chunked_occupancy");
  trace.Alias("fixed_time", step.fixed, "chunked_fixed");
  step.operators.Repeat(trace.Carry("in_turn", Ratio(in_turn)));
  step.operators.Add("scheduler overhead per prefill step", {prefill_step, {}, {}, Bound::kLatency, {}, {}},
                     chunks - 1);
  return step;
}

// The prompts, in chunks or passes.
PassCost ComputePrompts(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  const double chunks = ChunksOf(deployment, tokens, trace);
  if (chunks > 1) {
    const PromptTokens chunk = MeanChunk({tokens, cached}, chunks, trace);
    return InPasses(deployment, PrefillPass{sequences, chunk.tokens, chunk.cached}, chunks, trace);
  }
  if (deployment.mapping.pp <= 1 || sequences <= 1)
    return TimeOf(PrefillPass{sequences, tokens, cached}, deployment, trace);
  const double step_tokens = StepTokens(deployment, trace);
  FIGURE(trace, passes, min(sequences, max(1.0, sequences * tokens / step_tokens)),
         (Note{"Passes of the prompts through the pipeline",
               "each takes as many tokens as the engine's limit per step, the last one the rest"}),
         sequences, tokens, step_tokens);
  FIGURE(trace, pass_sequences, sequences / passes, (Note{"Prompts per pass", ""}), sequences, passes);
  trace.Alias("sequences", pass_sequences, "pass_sequences");
  trace.Alias("chunks", passes, "passes");
  return InPasses(deployment, PrefillPass{pass_sequences, tokens, cached}, passes, trace);
}

}  // namespace

double StepTokens(const Deployment& deployment, Trace& trace) {
  const StepTokenLimit limit = StepTokensOf(deployment.load, deployment.device);
  const auto step_tokens = static_cast<double>(limit.tokens);
  trace.Input("step_tokens", step_tokens, limit.path);
  return step_tokens;
}

Seconds TimeRequest(const Deployment& deployment, Trace& trace) {
  const EngineOverhead& overhead = deployment.engine.overhead;
  const auto prompt = static_cast<double>(deployment.load.prompt);
  const Seconds each = overhead.per_request, prompt_token = overhead.per_prompt_token;
  trace.Input("each", each, "serving.engine.request");
  trace.Input("prompt_token", prompt_token, "serving.engine.prompt_token");
  const double host_factor = HostFactor(deployment.load.tuning, deployment.engine);
  if (!deployment.engine.plain) {
    trace.Input("host_factor", host_factor, "serving.tuning.host");
    FIGURE(trace, request, each * host_factor + prompt * prompt_token,
           (Note{"Request handling by the host",
                 "of a request as the engine is run, and of the tokens of its prompt, cached ones too"}),
           each, host_factor, prompt, prompt_token);
    return request;
  }
  FIGURE(trace, request, each + prompt * prompt_token,
         (Note{"Request handling by the host", "of a request, and of the tokens of its prompt, cached ones too"}), each,
         prompt, prompt_token);
  return request;
}

PassCost TimePrompt(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  PassCost pass = ComputePrompts(deployment, sequences, tokens, cached, trace);
  if (!deployment.load.prefix_cache) return pass;
  const Seconds pass_time = pass.time, occupancy = pass.occupancy;
  const PrefixLoad load = LoadPrefixes(deployment, sequences, cached, pass_time, "pass_time", trace);
  const Seconds exposed_load = load.exposed;
  if (!(exposed_load > Seconds{})) return pass;
  pass.loaded = load.time;
  pass.load_exposed = exposed_load;
  FIGURE(trace, loaded_time, pass_time + exposed_load, (Note{"Prefill with the load of cached prefixes", ""}),
         pass_time, exposed_load);
  FIGURE(trace, loaded_occupancy, occupancy + exposed_load,
         (Note{"Slowest stage with the load of cached prefixes", ""}), occupancy, exposed_load);
  trace.Alias("pass_time", loaded_time, "loaded_time");
  trace.Alias("occupancy", loaded_occupancy, "loaded_occupancy");
  pass.time = loaded_time;
  pass.occupancy = loaded_occupancy;
  pass.operators.Add(kPrefixFromHost, {exposed_load, {}, {}, Bound::kNetwork, {}, {}}, 1);
  return pass;
}

PrefillStall TimeStall(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  if (PrefillsApart(deployment) || SplitsPrompts(deployment.load)) {
    return TimePrefills(deployment, running, decode, trace).stall;
  }
  const PromptTokens prompt = ComputedTokens(deployment.load, trace);
  const double prompts_per_pass = PromptsPerPass(deployment, running, prompt.tokens, trace);
  const bool more_than_steps = running > prompts_per_pass * DecodeSteps(deployment, trace);
  const Seconds alone = more_than_steps ? TimeAlone(deployment, prompt, trace).occupancy : Seconds{};
  const Seconds shared = more_than_steps ? ShareOfPass(deployment, prompts_per_pass, prompt, alone, trace) : Seconds{};
  return StallOf(deployment, running, prompts_per_pass, prompt, decode, shared, trace);
}

PrefillTimes TimePrefills(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  PrefillTimes times;
  const PromptTokens prompt = ComputedTokens(deployment.load, trace);
  times.alone = TimeAlone(deployment, prompt, trace);
  trace.Alias("least_prefill", times.alone.fixed, "fixed_time");
  const Seconds pass_time = times.alone.time, prefill_step = deployment.engine.overhead.prefill_step;
  FIGURE(trace, first_prefill, pass_time + prefill_step,
         (Note{"Prefill of one prompt", "with the engine's overhead of that step", kSource}), pass_time, prefill_step);
  times.first = first_prefill;
  times.alone.operators.Add("scheduler overhead per prefill step", {prefill_step, {}, {}, Bound::kLatency, {}, {}}, 1);
  const double prompts_per_pass = PromptsPerPass(deployment, running, prompt.tokens, trace);
  times.shared = ShareOfPass(deployment, prompts_per_pass, prompt, times.alone.occupancy, trace);
  times.stall = StallOf(deployment, running, prompts_per_pass, prompt, decode, times.shared, trace);
  return times;
}

PrefillTimes PrefillsOf(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  return deployment.memo == nullptr ? TimePrefills(deployment, running, decode, trace)
                                    : deployment.memo->Prefill(deployment.load, running, [&] {
                                        return TimePrefills(deployment, running, decode, trace);
                                      });
}

}  // namespace slipstick
