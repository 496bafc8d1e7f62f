#include "core/serving/request_flow.h"

#include <algorithm>

#include "core/serving/memo.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

// One pass over a prompt, in chunks where the load asks for them.
PassCost TimePrompt(const Deployment& d, double sequences, double tokens, double cached, Trace& trace) {
  const double chunk = static_cast<double>(d.load.prefill_chunk.value_or(0));
  if (chunk <= 0 || tokens <= chunk) return TimeOf(PrefillPass{sequences, tokens, cached}, d, trace);
  // Chunks differ in what lies before them only: the mean of the first and the last, which attention is linear in.
  const double chunks = ceil(tokens / chunk), rows = tokens / chunks;
  PassCost step = TimeOf(PrefillPass{sequences, rows, cached + (tokens - rows) / 2}, d, trace);
  const Seconds one_chunk = step.time, chunk_step = d.engine.overhead.prefill_step;
  FIGURE(trace, chunked_time, chunks * one_chunk + (chunks - 1) * chunk_step,
         (Note{"Prefill in chunks", "each a step of its own, behind the tokens of those before"}), chunks, one_chunk, chunk_step);
  step.time = chunked_time;
  step.occupancy = chunks * step.occupancy + (chunks - 1) * chunk_step;
  step.parts.Repeat(chunks);
  step.parts.Add("engine, a prefill step", {chunk_step, {}, {}, Bound::kLatency, {}, {}}, chunks - 1);
  return step;
}

// A prompt's share of the devices' time in a pass of `together` prompts. `alone`: of one.
Seconds ShareOfPass(const Deployment& d, double together, double tokens, double cached, Seconds alone, Trace& trace) {
  const Trace::Scope scope(trace, "together");
  const Seconds prefill_step = d.engine.overhead.prefill_step;
  const Seconds pass_time = together > 1 ? TimePrompt(d, together, tokens, cached, trace).occupancy : alone;
  FIGURE(trace, shared_prefill, (pass_time + prefill_step) / together,
         (Note{"A prompt's share of a pass", "with the engine's cost of such a step", kSource}), pass_time, prefill_step, together);
  return shared_prefill;
}

// What one prompt adds to the decode steps that it shares with `running` sequences.
Seconds StallOf(const Deployment& d, double running, double most_together, double tokens, double cached, const DecodeTimes& decode,
                Seconds shared_prefill, Trace& trace) {
  if (d.engine.composition != Composition::kKernels || d.pp > 1) return shared_prefill;
  const auto prompt = static_cast<double>(d.load.prompt), output = static_cast<double>(d.load.output);
  const double chunk = static_cast<double>(d.load.prefill_chunk.value_or(0));
  const double chunks = chunk > 0 ? max(1.0, ceil(tokens / chunk)) : 1;
  // As many prompts as end in a step, where they do not come in groups.
  const double prompts = chunks > 1 ? 1 : GroupsPrefills(d) ? most_together : min(most_together, max(1.0, running / output));
  const double checked = d.load.speculative ? 1 + static_cast<double>(d.load.speculative->draft_tokens) : 1;
  const double rows = tokens / chunks;
  MixedPass pass;
  pass.decode = {running, prompt + output / 2, checked, output};
  pass.prompts = prompts;
  pass.tokens = rows;
  pass.cached = cached + (tokens - rows) / 2;
  const Seconds mixed_step = TimeOf(pass, d, trace), decode_step = decode.step.time;
  // More prompts than steps: each step prefills, and passes that only prefill come between.
  FIGURE(trace, passes, chunks * running / (output * prompts), (Note{"Passes with prefill in a step", "of the load when it is steady"}),
         chunks, running, output, prompts);
  FIGURE(trace, prefill_stall,
         chunks * (max(mixed_step - decode_step, 0 * mixed_step) + max(0, passes - 1) * prompts / chunks * shared_prefill) /
             (max(1, passes) * prompts),
         (Note{"What a prompt adds to the others' steps", "a step that prefills beside decoding, less one that only decodes"}), chunks,
         mixed_step, decode_step, passes, prompts, shared_prefill);
  return prefill_stall;
}

// Cache beyond the device's share comes from the host, a layer ahead of its use: the step waits where the link is slower.
void AddOffload(const Deployment& d, double sequences, double context, DecodeTimes& times, Trace& trace) {
  const Bytes held = sequences * KvCacheOfSequence(d, context), device_cache = d.device_cache;
  const BytesPerSecond host_link = d.load.kv_offload->bandwidth;
  trace.Input("host_link", host_link, "serving.kv_offload.bandwidth");
  FIGURE(trace, offloaded, max(0 * held, held - device_cache), (Note{"Cache in host memory", "beyond what the device holds"}), held,
         device_cache);
  FIGURE(trace, transfer, offloaded / (0.85 * host_link),
         (Note{"Time to bring it in", "at 0.85 of the link, as large copies reach; estimate"}), offloaded, host_link);
  const Seconds device_step = times.step.time;
  FIGURE(trace, exposed_transfer, max(0 * transfer, transfer - device_step),
         (Note{"Of it, what the step waits for", "layer by layer, behind the layer before"}), transfer, device_step);
  times.offloaded = offloaded;
  times.transfer = transfer;
  times.exposed = exposed_transfer;
  times.step.time += exposed_transfer;
  times.step.occupancy += exposed_transfer;
  times.step.parts.Add("cache from the host", {exposed_transfer, {}, {}, Bound::kNetwork, {}, {}}, 1);
}

// Prompts that the engine takes in one pass, of those that `running` requests bring.
double MostTogether(const Deployment& d, double running) {
  return min(max(1.0, floor(static_cast<double>(d.engine.scheduler.prefill_tokens) / ComputedTokens(d.load))), max(1.0, floor(running)));
}

}  // namespace

double ComputedTokens(const ServingLoad& load) {
  const auto prompt = static_cast<double>(load.prompt);
  return max(1.0, ceil(prompt * (1 - load.prefix_hit)));
}

Seconds TimeStall(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace) {
  if (d.engine.composition != Composition::kKernels || d.pp > 1 || d.load.prefill_chunk) {
    return TimePrefills(d, running, decode, trace).stall;
  }
  const double tokens = ComputedTokens(d.load), cached = static_cast<double>(d.load.prompt) - tokens;
  const double together = MostTogether(d, running);
  const bool more_than_steps = running > together * static_cast<double>(d.load.output);
  const Seconds alone = more_than_steps ? TimePrompt(d, 1, tokens, cached, trace).occupancy : Seconds{};
  const Seconds shared = more_than_steps ? ShareOfPass(d, together, tokens, cached, alone, trace) : Seconds{};
  return StallOf(d, running, together, tokens, cached, decode, shared, trace);
}

PrefillTimes TimePrefills(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace) {
  PrefillTimes times;
  const double tokens = ComputedTokens(d.load);
  const double cached = static_cast<double>(d.load.prompt) - tokens;
  times.alone = TimePrompt(d, 1, tokens, cached, trace);
  const Seconds pass_time = times.alone.time, prefill_step = d.engine.overhead.prefill_step;
  trace.Input("prefill_step", prefill_step, "serving.engine.prefill_step");
  FIGURE(trace, first_prefill, pass_time + prefill_step, (Note{"Prefill of one prompt", "with the engine's cost of such a step", kSource}),
         pass_time, prefill_step);
  times.first = first_prefill;
  times.alone.parts.Add("engine, a prefill step", {prefill_step, {}, {}, Bound::kLatency, {}, {}}, 1);
  const double step_tokens = static_cast<double>(d.engine.scheduler.prefill_tokens);
  trace.Input("step_tokens", step_tokens, "serving.engine.prefill_tokens");
  trace.Input("tokens", tokens, "serving.prompt");
  FIGURE(trace, together, min(max(1.0, floor(step_tokens / tokens)), max(1.0, floor(running))),
         (Note{"Prompts in one pass", "as many as the engine's tokens of a step allow and requests there are", kSource}), step_tokens,
         tokens, running);
  times.shared = ShareOfPass(d, together, tokens, cached, times.alone.occupancy, trace);
  times.stall = StallOf(d, running, together, tokens, cached, decode, times.shared, trace);
  return times;
}

DecodeTimes TimeDecode(const Deployment& d, double sequences, Trace& trace) {
  DecodeTimes times;
  const auto prompt = static_cast<double>(d.load.prompt), output = static_cast<double>(d.load.output);
  const bool drafts = d.load.speculative.has_value();
  const double drafted = drafts ? static_cast<double>(d.load.speculative->draft_tokens) : 0;
  times.step = MeanDecode(d, sequences, prompt, output, 1 + drafted, trace);
  if (d.load.kv_offload) AddOffload(d, sequences, prompt + output / 2, times, trace);
  times.token = times.step.time;
  if (drafts) {
    Trace off = Trace::Off();
    const double acceptance = d.load.speculative->acceptance, draft_cost = d.load.speculative->draft_cost;
    const Seconds checked_step = times.step.time, plain_step = MeanDecode(d, sequences, prompt, output, 1, off).time;
    const double kept = acceptance < 1 ? (1 - pow(acceptance, drafted + 1)) / (1 - acceptance) : drafted + 1;
    FIGURE(trace, token_time, (checked_step + drafted * draft_cost * plain_step) / kept,
           (Note{"Time of a token under speculation", "a step checks all drafts; one token more than the run of kept drafts comes of it",
                 "Leviathan et al., arXiv 2211.17192"}),
           checked_step, drafted, draft_cost, plain_step, kept);
    times.token = token_time;
  }
  return times;
}

DecodeTimes DecodeOf(const Deployment& d, double running, Trace& trace) {
  return d.memo == nullptr ? TimeDecode(d, running, trace) : d.memo->Decode(running, [&] { return TimeDecode(d, running, trace); });
}

PrefillTimes PrefillsOf(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace) {
  return d.memo == nullptr ? TimePrefills(d, running, decode, trace)
                           : d.memo->Prefill(d.load, running, [&] { return TimePrefills(d, running, decode, trace); });
}

StaticBatch TimeStaticBatch(const Deployment& d, double sequences, const KvCacheBudget& budget, Trace& trace) {
  const Trace::Scope scope(trace, "static");
  const auto prompt = static_cast<double>(d.load.prompt), output = static_cast<double>(d.load.output);
  trace.Input("output", output, "serving.output");
  const double computed = ComputedTokens(d.load);
  const Seconds pass_time = TimePrompt(d, sequences, computed, prompt - computed, trace).time;
  const Seconds prefill_step = d.engine.overhead.prefill_step;
  double running = sequences;
  if (d.engine.scheduler.queues_static_batch) {
    running = std::clamp(budget.kv_cache / KvCacheOfSequence(d, prompt + d.engine.memory.output_reserved * output), 1.0, sequences);
  }
  const Seconds mean_step = TimeDecode(d, running, trace).token;
  const double rounds = sequences / running;
  FIGURE(trace, static_ttft, pass_time + prefill_step,
         (Note{"First tokens of a static batch", "one prefill of the whole batch", "", "serving.static_ttft_s"}), pass_time, prefill_step);
  FIGURE(trace, static_tpot, mean_step * rounds,
         (Note{"Output token of a static batch", "a decode step; no prefill comes in between", "", "serving.static_tpot_s"}), mean_step,
         rounds);
  FIGURE(trace, static_latency, static_ttft + output * static_tpot,
         (Note{"Static batch", "one prefill of the batch, then a step for every output token", "", "serving.static_latency_s"}),
         static_ttft, output, static_tpot);
  return {static_ttft, static_tpot, static_latency};
}

}  // namespace slipstick
