#include "core/serving/phase_time.h"

#include "core/serving/memo.h"
#include "core/serving/mixed_step.h"
#include "core/serving/serving_memory.h"
#include "core/serving/step_time.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

// Devices' time per prompt in a pass of `prompts_per_pass` prompts. `alone`: time of a pass of one.
Seconds ShareOfPass(const Deployment& deployment, double prompts_per_pass, double tokens, double cached, Seconds alone, Trace& trace) {
  const Trace::Scope scope(trace, "together");
  const Seconds prefill_step = deployment.engine.overhead.prefill_step;
  const Seconds pass_time = prompts_per_pass > 1 ? TimePrompt(deployment, prompts_per_pass, tokens, cached, trace).occupancy : alone;
  FIGURE(trace, shared_prefill, (pass_time + prefill_step) / prompts_per_pass,
         (Note{"Prefill time per prompt", "of a pass with several prompts and the engine's overhead of that step", kSource}), pass_time,
         prefill_step, prompts_per_pass);
  return shared_prefill;
}

// Time that one prompt's prefill adds to the decode steps of `running` sequences.
Seconds StallOf(const Deployment& deployment, double running, double prompts_per_pass, double tokens, double cached,
                const DecodeTimes& decode, Seconds shared_prefill, Trace& trace) {
  if (deployment.engine.composition != Composition::kKernels || deployment.mapping.pp > 1) return shared_prefill;
  const auto prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  const double chunk = static_cast<double>(deployment.load.prefill_chunk.value_or(0));
  const double chunks = chunk > 0 ? max(1.0, ceil(tokens / chunk)) : 1;
  // Without grouping, as many prompts as requests end in a step.
  const double prompts = chunks > 1 ? 1 : GroupsPrefills(deployment) ? prompts_per_pass : min(prompts_per_pass, max(1.0, running / output));
  const double checked = deployment.load.speculative ? 1 + static_cast<double>(deployment.load.speculative->draft_tokens) : 1;
  const double rows = tokens / chunks;
  MixedPass pass;
  pass.decode = {running, prompt + output / 2, checked, output};
  pass.prompts = prompts;
  pass.tokens = rows;
  pass.cached = cached + (tokens - rows) / 2;
  const Seconds mixed_step = TimeOf(pass, deployment, trace), decode_step = decode.step.time;
  // More prompts than steps: every step prefills, and prefill-only passes run in between.
  FIGURE(trace, passes, chunks * running / (output * prompts), (Note{"Passes with prefill per decode step", "in steady state"}), chunks,
         running, output, prompts);
  FIGURE(trace, prefill_stall,
         chunks * (max(mixed_step - decode_step, 0 * mixed_step) + max(0, passes - 1) * prompts / chunks * shared_prefill) /
             (max(1, passes) * prompts),
         (Note{"Decode stall per prompt", "a mixed step less a decode-only step"}), chunks, mixed_step, decode_step, passes, prompts,
         shared_prefill);
  return prefill_stall;
}

// KV cache beyond the device's budget is prefetched from the host one layer ahead; the step waits if the link is slower.
void AddOffload(const Deployment& deployment, double sequences, double context, DecodeTimes& times, Trace& trace) {
  const Bytes held = sequences * KvCacheOfSequence(deployment, context), kv_cache_budget = deployment.kv_cache_budget;
  const BytesPerSecond host_link = deployment.load.kv_offload->bandwidth;
  trace.Input("host_link", host_link, "serving.kv_offload.bandwidth");
  FIGURE(trace, offloaded, max(0 * held, held - kv_cache_budget), (Note{"KV cache in host memory", "beyond the device's budget"}), held,
         kv_cache_budget);
  FIGURE(trace, transfer, offloaded / (0.85 * host_link),
         (Note{"Transfer time", "at 0.85 of the link bandwidth, typical of large copies; estimate"}), offloaded, host_link);
  const Seconds device_step = times.step.time;
  FIGURE(trace, exposed_transfer, max(0 * transfer, transfer - device_step),
         (Note{"Exposed transfer time", "each layer's transfer overlaps the layer before"}), transfer, device_step);
  times.offloaded = offloaded;
  times.transfer = transfer;
  times.exposed = exposed_transfer;
  times.step.time += exposed_transfer;
  times.step.occupancy += exposed_transfer;
  times.step.operators.Add("KV cache from host", {exposed_transfer, {}, {}, Bound::kNetwork, {}, {}}, 1);
}

// Prompts that the engine admits to one pass, at most one per running request.
double PromptsPerPass(const Deployment& deployment, double running) {
  return min(max(1.0, floor(static_cast<double>(deployment.engine.scheduler.prefill_tokens) / ComputedTokens(deployment.load))),
             max(1.0, floor(running)));
}

}  // namespace

PassCost TimePrompt(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  const double chunk = static_cast<double>(deployment.load.prefill_chunk.value_or(0));
  if (chunk <= 0 || tokens <= chunk) return TimeOf(PrefillPass{sequences, tokens, cached}, deployment, trace);
  // Chunks differ only in KV length; attention is linear in it, so use the mean.
  const double chunks = ceil(tokens / chunk), rows = tokens / chunks;
  PassCost step = TimeOf(PrefillPass{sequences, rows, cached + (tokens - rows) / 2}, deployment, trace);
  const Seconds one_chunk = step.time, chunk_step = deployment.engine.overhead.prefill_step;
  FIGURE(trace, chunked_time, chunks * one_chunk + (chunks - 1) * chunk_step,
         (Note{"Chunked prefill", "one step per chunk, over the KV cache of the chunks before"}), chunks, one_chunk, chunk_step);
  step.time = chunked_time;
  step.occupancy = chunks * step.occupancy + (chunks - 1) * chunk_step;
  step.operators.Repeat(chunks);
  step.operators.Add("scheduler overhead per prefill step", {chunk_step, {}, {}, Bound::kLatency, {}, {}}, chunks - 1);
  return step;
}

double ComputedTokens(const ServingLoad& load) {
  const auto prompt = static_cast<double>(load.prompt);
  return max(1.0, ceil(prompt * (1 - load.prefix_hit)));
}

Seconds TimeStall(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  if (deployment.engine.composition != Composition::kKernels || deployment.mapping.pp > 1 || deployment.load.prefill_chunk) {
    return TimePrefills(deployment, running, decode, trace).stall;
  }
  const double tokens = ComputedTokens(deployment.load), cached = static_cast<double>(deployment.load.prompt) - tokens;
  const double prompts_per_pass = PromptsPerPass(deployment, running);
  const bool more_than_steps = running > prompts_per_pass * static_cast<double>(deployment.load.output);
  const Seconds alone = more_than_steps ? TimePrompt(deployment, 1, tokens, cached, trace).occupancy : Seconds{};
  const Seconds shared = more_than_steps ? ShareOfPass(deployment, prompts_per_pass, tokens, cached, alone, trace) : Seconds{};
  return StallOf(deployment, running, prompts_per_pass, tokens, cached, decode, shared, trace);
}

PrefillTimes TimePrefills(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  PrefillTimes times;
  const double tokens = ComputedTokens(deployment.load);
  const double cached = static_cast<double>(deployment.load.prompt) - tokens;
  times.alone = TimePrompt(deployment, 1, tokens, cached, trace);
  const Seconds pass_time = times.alone.time, prefill_step = deployment.engine.overhead.prefill_step;
  trace.Input("prefill_step", prefill_step, "serving.engine.prefill_step");
  FIGURE(trace, first_prefill, pass_time + prefill_step,
         (Note{"Prefill of one prompt", "with the engine's overhead of that step", kSource}), pass_time, prefill_step);
  times.first = first_prefill;
  times.alone.operators.Add("scheduler overhead per prefill step", {prefill_step, {}, {}, Bound::kLatency, {}, {}}, 1);
  const double step_tokens = static_cast<double>(deployment.engine.scheduler.prefill_tokens);
  trace.Input("step_tokens", step_tokens, "serving.engine.prefill_tokens");
  trace.Input("tokens", tokens, "serving.prompt");
  FIGURE(trace, prompts_per_pass, min(max(1.0, floor(step_tokens / tokens)), max(1.0, floor(running))),
         (Note{"Prompts per pass", "as the engine's token limit per step allows, at most the running requests", kSource}), step_tokens,
         tokens, running);
  times.shared = ShareOfPass(deployment, prompts_per_pass, tokens, cached, times.alone.occupancy, trace);
  times.stall = StallOf(deployment, running, prompts_per_pass, tokens, cached, decode, times.shared, trace);
  return times;
}

DecodeTimes TimeDecode(const Deployment& deployment, double sequences, Trace& trace) {
  DecodeTimes times;
  const auto prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  const bool drafts = deployment.load.speculative.has_value();
  const double drafted = drafts ? static_cast<double>(deployment.load.speculative->draft_tokens) : 0;
  times.step = MeanDecode(deployment, sequences, prompt, output, 1 + drafted, trace);
  if (deployment.load.kv_offload) AddOffload(deployment, sequences, prompt + output / 2, times, trace);
  times.token = times.step.time;
  if (drafts) {
    Trace off = Trace::Off();
    const double acceptance = deployment.load.speculative->acceptance, draft_cost = deployment.load.speculative->draft_cost;
    const Seconds checked_step = times.step.time, plain_step = MeanDecode(deployment, sequences, prompt, output, 1, off).time;
    const double kept = acceptance < 1 ? (1 - pow(acceptance, drafted + 1)) / (1 - acceptance) : drafted + 1;
    FIGURE(trace, token_time, (checked_step + drafted * draft_cost * plain_step) / kept,
           (Note{"Time per token with speculative decoding", "a step verifies all draft tokens and yields one token more than are accepted",
                 "Leviathan et al., arXiv 2211.17192"}),
           checked_step, drafted, draft_cost, plain_step, kept);
    times.token = token_time;
  }
  return times;
}

DecodeTimes DecodeOf(const Deployment& deployment, double running, Trace& trace) {
  return deployment.memo == nullptr ? TimeDecode(deployment, running, trace)
                                    : deployment.memo->Decode(running, [&] { return TimeDecode(deployment, running, trace); });
}

PrefillTimes PrefillsOf(const Deployment& deployment, double running, const DecodeTimes& decode, Trace& trace) {
  return deployment.memo == nullptr
             ? TimePrefills(deployment, running, decode, trace)
             : deployment.memo->Prefill(deployment.load, running, [&] { return TimePrefills(deployment, running, decode, trace); });
}

}  // namespace slipstick
