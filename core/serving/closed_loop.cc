// A closed loop in an engine that prefills and decodes in turn, as a mean field:
//
// A request is handled, waits for the step under way and for prefills ahead of its own, is prefilled (all this is its TTFT), and
// then takes output - 1 steps, which others' prefills stretch. In the time of that cycle each of the others is prefilled once, and
// every such prefill is waited for once: before the first token or between the others. They fall evenly on the output tokens, so
// that 1/output of them come before the first, or half of the one under way on arrival where that is more; the rest is in TPOT.
// No engine thus prefills or decodes more in that time than it can, and requests in flight over the cycle are the rate: Little's
// law, by construction.
#include <algorithm>

#include "core/serving/memo.h"
#include "core/serving/request_flow.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

struct RoundTimes {
  Seconds prefill_wait, tpot;
};

// Of a benchmark of `waves` rounds whose streams start together. In the first round half of the others' prefills come before mine, the
// other half while I decode: all of them are waited for, and only once.
RoundTimes OverRounds(const Deployment& d, double others, const RequestCycle& steady, const DecodeTimes& decode,
                      const PrefillTimes& prefill, Trace& trace) {
  const auto output = static_cast<double>(d.load.output), waves = static_cast<double>(*d.load.waves);
  trace.Input("waves", waves, "serving.waves");
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, prefill_stall = prefill.stall;
  const Seconds steady_wait = steady.prefill_wait, steady_token = steady.tpot;
  const double ahead = output > 1 ? 0.5 : 1;  // with one output token there is no later
  FIGURE(trace, prefill_wait, (1 - 1 / waves) * steady_wait + ahead * others * shared_prefill / waves,
         (Note{"Waiting for others' prefills", "in the first of a benchmark's rounds all start together, later ones are steady", kSource}),
         waves, steady_wait, ahead, others, shared_prefill);
  FIGURE(trace, round_token,
         (1 - 1 / waves) * steady_token + (mean_step + (1 - ahead) * others * prefill_stall / max(1.0, output - 1)) / waves,
         (Note{"Time of an output token over all rounds", "in the first the prefills that come after mine", kSource}), waves, steady_token,
         mean_step, ahead, others, prefill_stall, output);
  return {prefill_wait, round_token};
}

// Requests whose prefill is one pass with mine: those that ended together, where the engine keeps them together.
double PrefilledTogether(const Deployment& d, double running) {
  if (!GroupsPrefills(d)) return 1;
  return min(running, max(1.0, floor(static_cast<double>(d.engine.scheduler.prefill_tokens) / ComputedTokens(d.load))));
}

}  // namespace

RequestCycle CycleOf(const Deployment& d, double others, double together, double interrupted, const DecodeTimes& decode,
                     const PrefillTimes& prefill, Trace& trace) {
  const auto output = static_cast<double>(d.load.output);
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, prefill_stall = prefill.stall, first_prefill = prefill.first,
                request = d.engine.overhead.per_request;
  trace.Input("request", request, "serving.engine.request");
  FIGURE(trace, idle, request + interrupted * mean_step, (Note{"Handling, and the step under way", "", kSource}), request, interrupted,
         mean_step);
  FIGURE(trace, alone, idle + first_prefill + (together - 1) * shared_prefill,
         (Note{"First token if no other request were prefilled", "with this prefill and those that share its pass", kSource}), idle,
         first_prefill, together, shared_prefill);
  FIGURE(trace, even_token, mean_step + others * prefill_stall / output,
         (Note{"A step and the prefills in it", "each of the others' once in my output's tokens", kSource}), mean_step, others,
         prefill_stall, output);
  FIGURE(trace, busy, min(1.0, others, others / output * max(1.0, first_prefill / even_token)),
         (Note{"Share of time that the others' prefills take",
               "as an arriving request finds it: of the steps, and steps with one last longer", kSource}),
         others, output, first_prefill, even_token);
  FIGURE(trace, before, max(busy / 2, others / output),
         (Note{"Others' prefills before the first token", "half of one under way, or the first token's part of them all"}), busy, others,
         output);
  FIGURE(trace, prefill_wait, max(busy / 2 * first_prefill, before * prefill_stall),
         (Note{"Waiting for others' prefills", "for the one under way from its launch on, for others as long as they hold up a step"}),
         busy, first_prefill, before, prefill_stall);
  FIGURE(trace, steady_token, mean_step + max(0.0, others - before) * prefill_stall / max(1.0, output - 1),
         (Note{"A decode step and the prefills that come in between", "those that the first token did not wait for", kSource}), mean_step,
         others, before, prefill_stall, output);
  return {alone, prefill_wait, steady_token, alone + prefill_wait + (output - 1) * steady_token};
}

Flow ClosedLoop(const Deployment& d, double concurrency, double most, Rounds rounds, Trace& trace) {
  Flow flow;
  const auto output = static_cast<double>(d.load.output);
  const double groups = AttentionGroups(d);
  trace.Input("output", output, "serving.output");
  if (d.load.concurrency) trace.Input("concurrency", concurrency, "serving.concurrency");
  FIGURE(trace, offered, max(1.0, concurrency / groups), (Note{"Requests of one attention group", "in flight and waiting"}), concurrency,
         groups);
  const double slots = max(1.0, most);
  FIGURE(trace, running, min(offered, slots), (Note{"Requests that run", "the others wait for a slot"}), offered, slots);
  flow.running = running;
  const DecodeTimes& decode = flow.decode = DecodeOf(d, running, trace);
  const PrefillTimes& prefill = flow.prefill = PrefillsOf(d, running, decode, trace);
  const double together = PrefilledTogether(d, running), others = running - together;
  const double interrupted = min(1.0, running - 1) * (0.5 + d.steps_ahead);
  const RequestCycle steady = CycleOf(d, others, together, interrupted, decode, prefill, trace);
  const bool benchmark = rounds == Rounds::kBenchmark && d.load.waves && others > 0;
  const RoundTimes mean = benchmark ? OverRounds(d, others, steady, decode, prefill, trace) : RoundTimes{steady.prefill_wait, steady.tpot};
  const Seconds token = mean.tpot, prefill_wait = mean.prefill_wait, alone = steady.alone;
  FIGURE(trace, tpot, 1 * token,
         (Note{"Time of an output token", "after the first, others' prefills in the way", kSource, "serving.tpot_s"}), token);
  FIGURE(trace, slot_wait, (offered - running) / running * (alone + prefill_wait + (output - 1) * tpot),
         (Note{"Waiting for a slot", "those ahead of me leave one after the other"}), offered, running, alone, prefill_wait, output, tpot);
  FIGURE(trace, ttft, alone + prefill_wait + slot_wait,
         (Note{"Time to the first token", "alone, behind others' prefills, and for a slot", kSource, "serving.ttft_s"}), alone,
         prefill_wait, slot_wait);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot, (Note{"Whole request", "", "", "serving.request_latency_s"}), ttft, output,
         tpot);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, concurrency * output * one / request_latency,
         (Note{"Output tokens a second", "Little's law: requests in flight and waiting over the time of one", "", "serving.tokens_per_s"}),
         concurrency, output, one, request_latency);
  FIGURE(trace, in_flight, concurrency * running / offered,
         (Note{"Requests in flight", "of all replicas", "", "serving.requests_in_flight"}), concurrency, running, offered);
  FIGURE(trace, waiting, concurrency - in_flight,
         (Note{"Requests that wait for a slot", "of all replicas", "", "serving.requests_waiting"}), concurrency, in_flight);
  flow.tpot = tpot;
  flow.ttft = ttft;
  flow.latency = request_latency;
  flow.queue = slot_wait;
  flow.rate = rate;
  flow.in_flight = in_flight;
  flow.waiting = waiting;
  return flow;
}

}  // namespace slipstick
