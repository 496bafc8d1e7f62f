// Closed loop in an engine that prefills and decodes in turn, as a mean-field model:
//
// A request is handled, waits for the step in progress and for prefills queued before its own, is prefilled (all of
// this is its TTFT), and then takes output - 1 steps, which the prefills of others lengthen. During this cycle each of
// the other requests is prefilled once, and the request waits once for each of these prefills: before its first token
// or between later ones. They are spread evenly over the output tokens: 1/output of them come before the first (more if
// the engine gathers the arrivals of several steps), or half of the one in progress on arrival if that is more; the
// rest is in TPOT. Thus the engine never prefills or decodes more than it can in that time, and by Little's law the
// rate is the requests in flight over the cycle time.
#include <algorithm>

#include "core/base/figure.h"
#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"
#include "core/serving/random_arrivals.h"

namespace slipstick {
namespace {

struct RoundTimes {
  Seconds prefill_wait, tpot;
};

// Prompts that share a request's prefill pass when all requests are sent at once. An engine that groups prefills has
// such groups in every round, so the steady cycle includes them.
Ratio PassMates(const Deployment& deployment, Ratio running) {
  if (GroupsPrefills(deployment)) return 0;
  const Ratio of_step = StepTokens(deployment) / ComputedTokens(deployment.load).tokens;
  return Figure("Other prompts of a pass", max(0.0, min(running, of_step) - 1),
                "of those that start together, as many as a step takes");
}

// Share of a benchmark's requests that start together: those that find a slot in its first round.
Ratio StartTogether(const Deployment& deployment, Ratio running, Ratio offered) {
  return Figure("Requests that start together", running / (offered * Ratio(*deployment.load.waves)),
                "those of all rounds that find a slot at once");
}

// Mean over a benchmark whose streams start together. Of the requests that begin at once, half of the others' prefills
// come before a request's own and half while it decodes: it waits for each of them once. Prompts of one pass end
// together, so half of the prompts that share its pass also come before. With one output token, all prefills do.
RoundTimes OverRounds(const Deployment& deployment, Ratio together, const RequestCycle& steady,
                      const DecodeTimes& decode, const PrefillTimes& prefill) {
  const Ratio output(deployment.load.output), others = steady.others;
  const double half = output > 1 ? 0.5 : 1;
  const Seconds of_first_round = TakesTurns(deployment) ? prefill.shared : prefill.stall.added;  // in full passes
  const Ratio before = Figure("Others' prefills before the first token in the first round",
                              min(others, half * (others + PassMates(deployment, others + 1))),
                              "half of them, with those that end together with its own");
  return {
      Figure("Waiting for others' prefills", (1 - together) * steady.prefill_wait + together * before * prefill.shared,
             "some requests start together, the others are steady", kClosedLoopSource),
      Figure("Time per output token over all rounds",
             (1 - together) * steady.tpot +
                 together * (decode.token + (others - before) * of_first_round / max(1.0, output - 1)),
             "of those that start together, the prefills after the request's own", kClosedLoopSource)};
}

// Mean over a benchmark of the time that its requests wait for a slot. In later rounds each waits for a turn of the
// queue. At first all are in the queue. Those that find a slot start together and end together, after their time in a
// slot; the others follow as slots become free, and the last one waits for a turn.
Seconds WaitOverRounds(const Deployment& deployment, Seconds turn, Seconds in_slot, Ratio find_slots) {
  const Ratio first = 1 / Ratio(*deployment.load.waves);
  return Figure(
      "Waiting for a slot over all rounds", turn * (1 - first) + first * (1 - find_slots) * (turn + in_slot) / 2,
      "at first all are in the queue: from the time in a slot of those ahead to a turn, half of both in the mean");
}

// Throughput (requests per second) of a group that always has `running` of the sequences that it is offered; for a
// benchmark load, the mean over its rounds.
double ServedBy(const Deployment& deployment, double running, double offered) {
  const DecodeTimes decode = DecodeOf(deployment, running);
  if (deployment.load.disaggregated) return running / (decode.token / (1 * kS));
  const PrefillTimes prefill = PrefillsOf(deployment, running, decode);
  const RequestCycle steady = SteadyCycle(deployment, running, decode, prefill);
  if (!deployment.load.waves || deployment.load.requests_per_s || !(steady.others > 0))
    return running / (steady.time / (1 * kS));
  const RoundTimes mean = OverRounds(deployment, StartTogether(deployment, running, offered), steady, decode, prefill);
  const Ratio output(deployment.load.output);
  return running / ((steady.alone + mean.prefill_wait + (output - 1) * mean.tpot) / (1 * kS));
}

// Requests in the system over all replicas, and their throughput.
struct RequestFlow {
  Ratio in_system;
  TokensPerSecond rate;
};

// Sessions pause between two turns. Hence the mean number of turns in the system is below the number that an arriving
// turn finds, itself included (`concurrency`).
RequestFlow FlowOf(const Deployment& deployment, Ratio concurrency, Seconds latency) {
  const Ratio output(deployment.load.output), sessions = deployment.sessions;
  constexpr std::string_view kTitle = "Throughput in output tokens";
  if (!(sessions > 0)) {
    return {concurrency, Figure(kTitle, concurrency * output * kToken / latency,
                                "Little's law: requests in flight and waiting over the latency")};
  }
  const Seconds gap = deployment.load.sessions->gap;
  return {Figure("Turns in the system", sessions * (latency / (latency + gap)), "of all sessions, Little's law"),
          Figure(kTitle, sessions * output * kToken / (latency + gap),
                 "each session sends a turn in the time of one and its gap")};
}

}  // namespace

Ratio WaitOverService(Ratio load, Ratio servers, Ratio variation) {
  const Ratio occupied =
      Figure("Share of the servers that is occupied", min(kMostOccupied, load), "below 1: the queue would never end");
  const Ratio exponential =
      Figure("Wait over the service time, if services were exponential",
             pow(occupied, sqrt(2 * (servers + 1)) - 1) / (servers * (1 - occupied)), "M/M/c queue", "Sakasegawa 1977");
  return Figure("Wait over the service time", exponential * (1 + variation) / 2,
                "random arrivals; the more services differ, the longer",
                "Allen and Cunneen: Allen, Probability, Statistics, and Queueing Theory, 1990");
}

Ratio AttentionGroups(const Deployment& deployment) {
  return Figure("Attention groups", deployment.mapping.replicas * deployment.mapping.attention_dp, "of all replicas");
}

// The candidate numbers do not depend on the host's memory, which only limits how many of them fit. So more host memory
// never lowers the throughput.
Ratio UsefulSlots(const Deployment& deployment, Ratio max_slots, bool may_wait, std::optional<Ratio> offered) {
  constexpr std::string_view kTitle = "Slots of an attention group";
  if (!deployment.load.kv_offload || !may_wait) return Figure(kTitle, max(1.0, max_slots), "sequences that it can run");
  const Ratio held =
      Figure("Sequences whose KV cache fits", max(1.0, max_slots), "of a group, on the device and the host");
  constexpr double kGrowth = 1.1;
  const Deployment& plain = PlainOf(deployment);
  const double last = offered ? std::min(held.base(), offered->base()) : held.base();
  double slots = 1, most = 0;
  const auto attempt = [&](double tried) {
    if (tried < 1 || tried > held) return;
    const double running = offered ? std::min(tried, offered->base()) : tried;
    const double served = ServedBy(plain, running, offered ? offered->base() : running);
    if (served > most) slots = tried, most = served;
  };
  attempt(plain.device_slots);
  if (offered) attempt(std::ceil(offered->base()));
  for (double tried = 1; tried <= last; tried = std::floor(std::max(tried + 1, tried * kGrowth))) attempt(tried);
  return Procedure(kTitle, Ratio(slots), {{held, slots == held.base() ? 1.0 : 0.0}},
                   "sequences that it can run: as many as serve the most requests per second; with more, the host link "
                   "is slower");
}

// While others decode, an engine that collects prompts lets the first prompt wait for `collect_steps`, or until enough
// have come; prompts that arrive in the meantime wait for the rest of that time.
Residual ResidualSteps(const Deployment& deployment, Ratio found) {
  const EngineScheduler& scheduler = deployment.engine.scheduler;
  const Ratio receive_interval(scheduler.receive_interval), output(deployment.load.output);
  const Ratio tokens = ComputedTokens(deployment.load).tokens;
  const Ratio collecting =
      Figure("Steps for which prompts are collected",
             min(Ratio(scheduler.collect_steps),
                 max(0.0, scheduler.collect_share * StepTokens(deployment) / tokens - 1) * output / max(1.0, found)),
             "at most those set, or until enough tokens have come");
  const Ratio collect_wait =
      Figure("Steps that a collected request waits for",
             collecting * (1 + found / output * collecting / 2) / (1 + found / output * collecting),
             "the first for all of them, those that come meanwhile for half in the mean");
  return {
      Figure("Steps that an arriving request waits for",
             min(1.0, found) * (receive_interval / 2 + deployment.launch.steps_ahead + collect_wait),
             "half of the steps between two checks for requests, plus those launched ahead and those spent collecting"),
      Figure("Steps whose arrivals are prefilled together", max(receive_interval, collecting))};
}

PrefillsMet MeetsItsOwnKind(const PrefillTimes& prefill) {
  const PrefixLoad& load = prefill.alone.load;
  // A load that stalls no other request does not lengthen the steps of others.
  const Seconds in_steps = load.exposed > load.stalls ? prefill.first - load.exposed : prefill.first;
  return {in_steps, in_steps, max(prefill.stall.added, prefill.alone.fixed), prefill.stall};
}

RequestCycle CycleOf(const Deployment& deployment, const Neighbors& neighbors, const DecodeTimes& decode,
                     const PrefillTimes& prefill, const PrefillsMet& met) {
  const Ratio output(deployment.load.output), others = neighbors.others;
  const Seconds mean_step = decode.token, stall = met.stall.added;
  const Residual residual = ResidualSteps(deployment, neighbors.found);
  const Seconds in_progress = residual.wait * mean_step;
  RequestCycle cycle;
  cycle.others = others;
  cycle.handling =
      Figure("Request handling and the step in progress", TimeRequest(deployment) + in_progress, "", kClosedLoopSource);
  if (neighbors.prompts > 1)
    cycle.grouped = Figure("Other prompts in the same pass", (neighbors.prompts - 1) * prefill.shared);
  cycle.alone = Figure("Time to first token without other prefills", cycle.handling + prefill.first + cycle.grouped,
                       "with this prefill and those in the same pass", kClosedLoopSource);
  const Seconds even_token = Figure("Mean step with prefills", mean_step + others * met.paced / output,
                                    "each other request is prefilled once per output", kClosedLoopSource);
  const Ratio in_prefills = Figure("Fraction of time spent in others' prefills",
                                   min(1.0, min(others, others / output * max(1.0, met.mean / even_token))),
                                   "seen by an arriving request: steps with a prefill last longer", kClosedLoopSource);
  const Ratio before =
      Figure("Others' prefills before the first token",
             max(in_prefills / 2, max(min(others, residual.gathered * others / output), neighbors.ahead)),
             "half of the one in progress, those of requests that are gathered with it, or those of the group before");
  // A stall is a step with prefill minus the decode-only step that it replaces. Replaced steps save the request no more
  // than the step in progress that it waits for.
  const Seconds not_spared =
      Figure("Decoding in steps with others' prefills", max(Seconds{}, before * met.stall.replaced - in_progress),
             "beyond the step in progress");
  cycle.prefill_wait =
      Figure("Waiting for others' prefills", max(in_prefills / 2 * met.found, before * stall + not_spared),
             "the rest of the prefill in progress, or the steps that contain the others");
  cycle.tpot = Figure("Decode step with the prefills in between",
                      mean_step + max(0.0, others - before) * stall / max(1.0, output - 1),
                      "those that the first token did not wait for", kClosedLoopSource);
  cycle.time = Figure("From its slot to the last token", cycle.alone + cycle.prefill_wait + (output - 1) * cycle.tpot,
                      "", kClosedLoopSource);
  return cycle;
}

void SetPrefillsBefore(const RequestCycle& cycle, Seconds prefill_wait, ServingPerformance& performance) {
  performance.handling = cycle.handling;
  performance.prefills_before =
      Figure("Time of others' prefills before the first token", prefill_wait + cycle.grouped, "or in the same pass");
}

RequestCycle SteadyCycle(const Deployment& deployment, Ratio running, const DecodeTimes& decode,
                         const PrefillTimes& prefill) {
  Neighbors neighbors;
  neighbors.found = Figure("Requests that an arriving one finds running", running - 1, "all but itself");
  if (GroupsPrefills(deployment)) {
    // Requests that ended together are prefilled together. Groups end one step after the other, so every group but the
    // first finds the previous group in its prefill.
    const Ratio of_step = StepTokens(deployment) / ComputedTokens(deployment.load).tokens;
    neighbors.prompts = Figure("Requests prefilled in the same pass", min(running, max(1.0, floor(of_step))),
                               "those that ended together");
    neighbors.ahead = Figure("Prompts of the group before", neighbors.prompts * (1 - neighbors.prompts / running),
                             "none before the first group of a round; all requests have one length");
  }
  neighbors.others = Figure("Other running requests", running - neighbors.prompts, "prefilled on their own");
  return CycleOf(deployment, neighbors, decode, prefill, MeetsItsOwnKind(prefill));
}

ServingPerformance ClosedLoop(const Deployment& deployment, Ratio concurrency, Ratio max_slots, Rounds rounds,
                              std::optional<Hertz> turns) {
  ServingPerformance performance;
  const Ratio output(deployment.load.output);
  const Ratio offered = Figure("Requests per attention group", max(1.0, concurrency / AttentionGroups(deployment)),
                               "in flight and waiting");
  const bool queues = deployment.load.concurrency && rounds == Rounds::kBenchmark;
  const Ratio running =
      Figure("Running requests per attention group", min(offered, UsefulSlots(deployment, max_slots, queues, offered)),
             "the others wait for a slot");
  performance.running = running;
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, running);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, running, decode);
  const auto of_turns = [&] {
    const Ratio waiting = Figure("Turns that wait for a slot", min(1.0, (offered - running) / sqrt(running)),
                                 "the number in the system fluctuates by about its square root");
    return RandomCycle(deployment, {*turns, running - 1, waiting}, decode, prefill.first,
                       ArrivingAt(deployment, running, decode));
  };
  const RequestCycle steady = turns ? of_turns() : SteadyCycle(deployment, running, decode, prefill);
  const bool benchmark = rounds == Rounds::kBenchmark && deployment.load.waves && steady.others > 0;
  const Ratio together = benchmark ? StartTogether(deployment, running, offered) : Ratio(0);
  const RoundTimes mean = benchmark ? OverRounds(deployment, together, steady, decode, prefill)
                                    : RoundTimes{steady.prefill_wait, steady.tpot};
  performance.tpot = Figure("Time per output token (TPOT)", mean.tpot,
                            "after the first, with others' prefills in between", kClosedLoopSource);
  const Seconds in_slot = steady.alone + mean.prefill_wait + (output - 1) * performance.tpot;
  const Seconds turn =
      Figure("Waiting for a slot", (offered - running) / running * in_slot, "running requests end one after the other");
  const bool queue_fills = benchmark && offered > running;
  performance.queue = queue_fills ? WaitOverRounds(deployment, turn, in_slot, running / offered) : turn;
  performance.ttft = Figure("Time to first token (TTFT)", steady.alone + mean.prefill_wait + performance.queue,
                            "own prefill, waiting for others' prefills and for a slot", kClosedLoopSource);
  performance.latency = Figure("End-to-end latency", performance.ttft + (output - 1) * performance.tpot);
  SetPrefillsBefore(steady, mean.prefill_wait, performance);
  const RequestFlow flow = FlowOf(deployment, concurrency, performance.latency + (turn - performance.queue));
  performance.rate = flow.rate;
  performance.in_flight = Figure("Requests in flight", flow.in_system * running / offered, "all replicas");
  performance.waiting =
      queue_fills
          ? Figure("Requests waiting for a slot", flow.rate / (output * kToken) * performance.queue,
                   "all replicas, mean over all rounds: Little's law")
          : Figure("Requests waiting for a slot", max(0.0, flow.in_system - performance.in_flight), "all replicas");
  return performance;
}

}  // namespace slipstick
