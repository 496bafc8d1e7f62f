// Closed loop in an engine that prefills and decodes in turn, as a mean field:
//
// A request is handled, waits for the step in progress and for prefills queued before its own, is prefilled (all of
// this is its TTFT), and then takes output - 1 steps, which others' prefills lengthen. During that cycle each of the
// others is prefilled once, and the request waits once for each of these prefills: before its first token or between
// later ones. They are spread evenly over the output tokens: 1/output of them come before the first (more where the
// engine gathers the arrivals of several steps), or half of the one in progress on arrival if that is more; the rest is
// in TPOT. The engine thus never prefills or decodes more than it can in that time, and the rate is requests in flight
// over the cycle time: Little's law by construction.
#include <algorithm>

#include "core/engine_step/named_terms.h"
#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

constexpr std::string_view kClosedLoopSource =
    "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

struct RoundTimes {
  Seconds prefill_wait, tpot;
};

// Prompts of a step that are prefilled beside a request's own when all are sent at once. Where the engine groups
// prefills they are part of every round.
double PassMates(const Deployment& deployment, double running, Trace& trace) {
  if (GroupsPrefills(deployment))
    return trace.Constant("pass_mates", 0.0, "serving.scheduler", "grouped in every round");
  const double step_tokens = StepTokens(deployment, trace);
  const double tokens = ComputedTokens(deployment.load, trace).tokens;
  FIGURE(trace, pass_mates, max(0.0, min(running, step_tokens / tokens) - 1),
         (Note{"Other prompts of a pass", "of those that start together, as many as a step takes"}), running,
         step_tokens, tokens);
  return pass_mates;
}

// Mean over a benchmark of `waves` rounds whose streams start together. In the first round half of the others' prefills
// come before a request's own and half while it decodes: it waits for each of them once. Prompts of a pass end
// together, so half of those that share it come before as well.
RoundTimes OverRounds(const Deployment& deployment, double running, const RequestCycle& steady,
                      const DecodeTimes& decode, const PrefillTimes& prefill, Trace& trace) {
  const auto output = static_cast<double>(deployment.load.output), waves = static_cast<double>(*deployment.load.waves);
  const double others = steady.others;
  trace.Input("waves", waves, "serving.waves");
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, prefill_stall = prefill.stall.added;
  const Seconds steady_wait = steady.prefill_wait, steady_token = steady.tpot;
  trace.Alias("steady_wait", steady_wait, "prefill_wait");
  const double pass_mates = PassMates(deployment, running, trace);
  const double half = output > 1 ? 0.5 : 1;  // with one output token, all of them
  CONSTANTS(trace, "serving.first_round",
            "share of the others' prefills before a request's own: half; with one output token all", half);
  FIGURE(
      trace, prefilled_before, min(others, half * (others + pass_mates)),
      (Note{"Others' prefills before the first token in the first round", "with those that end together with its own"}),
      others, half, pass_mates);
  FIGURE(trace, prefill_wait, (1 - 1 / waves) * steady_wait + prefilled_before * shared_prefill / waves,
         (Note{"Waiting for others' prefills",
               "all streams start together in the first benchmark round; later rounds are steady", kClosedLoopSource}),
         waves, steady_wait, prefilled_before, shared_prefill);
  FIGURE(trace, round_token,
         (1 - 1 / waves) * steady_token +
             (mean_step + (others - prefilled_before) * prefill_stall / max(1.0, output - 1)) / waves,
         (Note{"Time per output token over all rounds", "in the first round, the prefills after the request's own",
               kClosedLoopSource}),
         waves, steady_token, mean_step, others, prefilled_before, prefill_stall, output);
  return {prefill_wait, round_token};
}

// Requests prefilled in the same pass: those that ended together, where the engine keeps them together. Groups end one
// step after the other, so each but the first finds the one before it in its prefill.
PromptGroup PromptsTogether(const Deployment& deployment, double running, Trace& trace) {
  if (!GroupsPrefills(deployment)) return OnePrompt(trace);
  const double step_tokens = StepTokens(deployment, trace);
  const double tokens = ComputedTokens(deployment.load, trace).tokens;
  FIGURE(trace, batched_prompts, min(running, max(1.0, floor(step_tokens / tokens))),
         (Note{"Requests prefilled in the same pass", "those that ended together"}), running, step_tokens, tokens);
  FIGURE(trace, prompts_ahead, batched_prompts * (1 - batched_prompts / running),
         (Note{"Prompts of the group before", "none before the first group of a round; all requests have one length"}),
         batched_prompts, running);
  return {batched_prompts, prompts_ahead};
}

// Decode steps that an arriving request waits for, and those whose arrivals are prefilled together.
struct Residual {
  double wait = 0, gathered = 1;
};

// While others decode, an engine that collects prompts lets the first one wait for `collect_steps`, or until enough
// have come; those that come meanwhile wait for the rest of it.
Residual ResidualSteps(const Deployment& deployment, double found, Trace& trace) {
  const EngineScheduler& scheduler = deployment.engine.scheduler;
  const auto receive_interval = static_cast<double>(scheduler.receive_interval),
             collect_steps = static_cast<double>(scheduler.collect_steps), step_tokens = StepTokens(deployment, trace),
             output = static_cast<double>(deployment.load.output);
  const double steps_ahead = deployment.launch.steps_ahead, collect_share = scheduler.collect_share;
  const double tokens = ComputedTokens(deployment.load, trace).tokens;
  FIGURE(trace, collecting,
         min(collect_steps, max(0.0, collect_share * step_tokens / tokens - 1) * output / max(1.0, found)),
         (Note{"Steps for which prompts are collected", "at most those set, or until enough tokens have come"}),
         collect_steps, collect_share, step_tokens, tokens, output, found);
  FIGURE(trace, collect_wait, collecting * (1 + found / output * collecting / 2) / (1 + found / output * collecting),
         (Note{"Steps that a collected request waits for",
               "the first for all of them, those that come meanwhile for half in the mean"}),
         collecting, found, output);
  FIGURE(trace, residual_steps, min(1.0, found) * (receive_interval / 2 + steps_ahead + collect_wait),
         (Note{"Steps that an arriving request waits for",
               "half of those between two looks for requests, those launched ahead, and collecting"}),
         found, receive_interval, steps_ahead, collect_wait);
  FIGURE(trace, gathered, max(receive_interval, collecting), (Note{"Steps whose arrivals are prefilled together", ""}),
         receive_interval, collecting);
  return {residual_steps, gathered};
}

// What a group serves that always has `running` sequences, over the rounds of a benchmark where the load is one:
// requests per second.
double ServedBy(const Deployment& deployment, double running) {
  Trace off = Trace::Off();
  const DecodeTimes decode = DecodeOf(deployment, running, off);
  if (deployment.load.disaggregated) return running / (decode.token / (1 * kS));
  const PrefillTimes prefill = PrefillsOf(deployment, running, decode, off);
  const RequestCycle steady = SteadyCycle(deployment, running, decode, prefill, off);
  if (!deployment.load.waves || deployment.load.requests_per_s || !(steady.others > 0))
    return running / (steady.time / (1 * kS));
  const RoundTimes mean = OverRounds(deployment, running, steady, decode, prefill, off);
  const auto output = static_cast<double>(deployment.load.output);
  return running / ((steady.alone + mean.prefill_wait + (output - 1) * mean.tpot) / (1 * kS));
}

// Requests in the system, all replicas, and what they bring.
struct RequestFlow {
  double in_system = 1;
  TokensPerSecond rate;
};

// Sessions wait between two turns, so that fewer are in the system than one of them finds, itself included
// (`concurrency`).
RequestFlow FlowOf(const Deployment& deployment, double concurrency, Seconds request_latency, Trace& trace) {
  const auto output = static_cast<double>(deployment.load.output);
  if (!(deployment.sessions > 0)) {
    trace.Alias("in_system", concurrency, "concurrency");
    FIGURE(trace, rate, concurrency * output * kToken / request_latency,
           (Note{"Throughput in output tokens", "Little's law: requests in flight and waiting over the latency", "",
                 "serving.tokens_per_s"}),
           concurrency, output, request_latency);
    return {concurrency, rate};
  }
  const double sessions = deployment.sessions;
  const Seconds gap = deployment.load.sessions->gap;
  FIGURE(trace, rate, sessions * output * kToken / (request_latency + gap),
         (Note{"Throughput in output tokens", "each session sends a turn in the time of one and its gap", "",
               "serving.tokens_per_s"}),
         sessions, output, request_latency, gap);
  FIGURE(trace, in_system, sessions * (request_latency / (request_latency + gap)),
         (Note{"Turns in the system", "of all sessions, Little's law"}), sessions, request_latency, gap);
  return {in_system, rate};
}

}  // namespace

// The numbers that are tried do not depend on the host's memory, which only says how many of them fit: more of it never
// serves less.
double UsefulSlots(const Deployment& deployment, double max_slots, bool may_wait, std::optional<double> offered,
                   Trace& trace) {
  constexpr Note kSlots{"Slots of an attention group", "sequences that it can run"};
  if (!deployment.load.kv_offload || !may_wait) {
    FIGURE(trace, slots, max(1.0, max_slots), kSlots, max_slots);
    return slots;
  }
  FIGURE(trace, held, max(1.0, max_slots),
         (Note{"Sequences whose KV cache fits", "of a group, on the device and the host"}), max_slots);
  constexpr double kGrowth = 1.1;
  double slots = 1, most = 0;
  const auto attempt = [&](double tried) {
    if (tried < 1 || tried > held) return;
    const double served = ServedBy(deployment, std::min(tried, offered.value_or(tried)));
    if (served > most) slots = tried, most = served;
  };
  attempt(deployment.device_slots);
  if (offered) attempt(std::ceil(*offered));
  const double last = std::min(held, offered.value_or(held));
  for (double tried = 1; tried <= last; tried = std::floor(std::max(tried + 1, tried * kGrowth))) attempt(tried);
  trace.Procedure(
      "slots", slots,
      Note{kSlots.title, "as many as serve the most requests per second: with more, the host link is slower"}, "held",
      held);
  return slots;
}

PromptGroup OnePrompt(Trace& trace) {
  return {trace.Constant("batched_prompts", 1.0, "serving.scheduler", "a request is prefilled by itself"),
          trace.Constant("prompts_ahead", 0.0, "serving.scheduler", "arrivals are independent")};
}

RequestCycle CycleOf(const Deployment& deployment, double others, const PromptGroup& group, double found,
                     const DecodeTimes& decode, const PrefillTimes& prefill, Trace& trace) {
  const double batched_prompts = group.prompts, prompts_ahead = group.ahead;
  const auto output = static_cast<double>(deployment.load.output);
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, prefill_stall = prefill.stall.added,
                replaced_steps = prefill.stall.replaced, first_prefill = prefill.first,
                request = TimeRequest(deployment, trace);
  const auto [residual_steps, gathered] = ResidualSteps(deployment, found, trace);
  FIGURE(trace, handling, request + residual_steps * mean_step,
         (Note{"Request handling and the step in progress", "", kClosedLoopSource}), request, residual_steps,
         mean_step);
  FIGURE(trace, grouped, (batched_prompts - 1) * shared_prefill, (Note{"Other prompts in the same pass", ""}),
         batched_prompts, shared_prefill);
  FIGURE(trace, alone, handling + first_prefill + grouped,
         (Note{"Time to first token without other prefills", "with this prefill and those in the same pass",
               kClosedLoopSource}),
         handling, first_prefill, grouped);
  // Others' prefills come no more often than the host prepares them.
  const Seconds least_prefill = prefill.alone.fixed;
  FIGURE(trace, even_token, mean_step + others * max(prefill_stall, least_prefill) / output,
         (Note{"Mean step with prefills", "each other request is prefilled once per output", kClosedLoopSource}),
         mean_step, others, prefill_stall, least_prefill, output);
  FIGURE(trace, prefill_utilization, min(1.0, min(others, others / output * max(1.0, first_prefill / even_token))),
         (Note{"Fraction of time spent in others' prefills",
               "seen by an arriving request: steps with a prefill last longer", kClosedLoopSource}),
         others, output, first_prefill, even_token);
  FIGURE(
      trace, before, max(prefill_utilization / 2, max(min(others, gathered * others / output), prompts_ahead)),
      (Note{"Others' prefills before the first token",
            "half of the one in progress, those of requests that are gathered with it, or those of the group before"}),
      prefill_utilization, others, gathered, output, prompts_ahead);
  // A stall is a step with prefill less the decode-only step in its place. No more of these than the request waits for
  // is spared.
  FIGURE(trace, not_spared, max(0 * mean_step, before * replaced_steps - residual_steps * mean_step),
         (Note{"Decoding in steps with others' prefills", "beyond the step in progress"}), before, replaced_steps,
         residual_steps, mean_step);
  FIGURE(trace, prefill_wait, max(prefill_utilization / 2 * first_prefill, before * prefill_stall + not_spared),
         (Note{"Waiting for others' prefills", "the one in progress, or the steps that hold the others"}),
         prefill_utilization, first_prefill, before, prefill_stall, not_spared);
  FIGURE(trace, steady_token, mean_step + max(0.0, others - before) * prefill_stall / max(1.0, output - 1),
         (Note{"Decode step with the prefills in between", "those that the first token did not wait for",
               kClosedLoopSource}),
         mean_step, others, before, prefill_stall, output);
  FIGURE(trace, cycle, alone + prefill_wait + (output - 1) * steady_token,
         (Note{"From its slot to the last token", "", kClosedLoopSource}), alone, prefill_wait, output, steady_token);
  return {alone, prefill_wait, steady_token, cycle, others, handling, grouped};
}

void SetPrefillsBefore(const RequestCycle& cycle, Seconds prefill_wait, ServingPerformance& performance, Trace& trace) {
  const Seconds grouped = cycle.grouped;
  FIGURE(trace, prefills_before, prefill_wait + grouped,
         (Note{"Others' prefills before the first token", "or in the same pass"}), prefill_wait, grouped);
  performance.handling = cycle.handling;
  performance.prefills_before = prefills_before;
}

RequestCycle SteadyCycle(const Deployment& deployment, double running, const DecodeTimes& decode,
                         const PrefillTimes& prefill, Trace& trace) {
  const PromptGroup group = PromptsTogether(deployment, running, trace);
  const double batched_prompts = group.prompts;
  FIGURE(trace, found, running - 1, (Note{"Requests that an arriving one finds running", "all but itself"}), running);
  FIGURE(trace, others, running - batched_prompts, (Note{"Other running requests", "prefilled on their own"}), running,
         batched_prompts);
  return CycleOf(deployment, others, group, found, decode, prefill, trace);
}

ServingPerformance ClosedLoop(const Deployment& deployment, double concurrency, double max_slots, Rounds rounds,
                              Trace& trace) {
  ServingPerformance performance;
  const auto output = static_cast<double>(deployment.load.output);
  const double attention_groups = AttentionGroups(deployment, trace);
  FIGURE(trace, offered, max(1.0, concurrency / attention_groups),
         (Note{"Requests per attention group", "in flight and waiting"}), concurrency, attention_groups);
  const bool queues = deployment.load.concurrency && rounds == Rounds::kBenchmark;
  const double slots = UsefulSlots(deployment, max_slots, queues, offered, trace);
  FIGURE(trace, running, min(offered, slots),
         (Note{"Running requests per attention group", "the others wait for a slot"}), offered, slots);
  performance.running = running;
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, running, trace);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, running, decode, trace);
  const RequestCycle steady = SteadyCycle(deployment, running, decode, prefill, trace);
  const bool benchmark = rounds == Rounds::kBenchmark && deployment.load.waves && steady.others > 0;
  const RoundTimes mean = benchmark ? OverRounds(deployment, running, steady, decode, prefill, trace)
                                    : RoundTimes{steady.prefill_wait, steady.tpot};
  trace.Alias("token", mean.tpot, benchmark ? "round_token" : "steady_token");
  const Seconds token = mean.tpot, prefill_wait = mean.prefill_wait, alone = steady.alone;
  FIGURE(trace, tpot, 1 * token,
         (Note{"Time per output token (TPOT)", "after the first, with others' prefills in between", kClosedLoopSource,
               "serving.tpot_s"}),
         token);
  FIGURE(trace, slot_wait, (offered - running) / running * (alone + prefill_wait + (output - 1) * tpot),
         (Note{"Waiting for a slot", "running requests end one after the other"}), offered, running, alone,
         prefill_wait, output, tpot);
  FIGURE(trace, ttft, alone + prefill_wait + slot_wait,
         (Note{"Time to first token (TTFT)", "own prefill, waiting for others' prefills and for a slot",
               kClosedLoopSource, "serving.ttft_s"}),
         alone, prefill_wait, slot_wait);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot,
         (Note{"End-to-end latency", "", "", "serving.request_latency_s"}), ttft, output, tpot);
  const RequestFlow flow = FlowOf(deployment, concurrency, request_latency, trace);
  const double in_system = flow.in_system;
  FIGURE(trace, in_flight, in_system * running / offered,
         (Note{"Requests in flight", "all replicas", "", "serving.requests_in_flight"}), in_system, running, offered);
  FIGURE(trace, waiting, max(0.0, in_system - in_flight),
         (Note{"Requests waiting for a slot", "all replicas", "", "serving.requests_waiting"}), in_system, in_flight);
  performance.tpot = tpot;
  performance.ttft = ttft;
  performance.latency = request_latency;
  performance.queue = slot_wait;
  trace.Alias("queue", slot_wait, "slot_wait");
  SetPrefillsBefore(steady, prefill_wait, performance, trace);
  performance.rate = flow.rate;
  performance.in_flight = in_flight;
  performance.waiting = waiting;
  return performance;
}

}  // namespace slipstick
