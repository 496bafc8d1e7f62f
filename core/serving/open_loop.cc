// An open loop: requests come at random, and meet the same engine as in a closed one (closed_loop.cc). As many run as arrive in the time
// of one; of all slots but its own, a request finds those taken that the load takes.
#include <algorithm>

#include "core/serving/memo.h"
#include "core/serving/request_flow.h"

namespace slipstick {
namespace {

double StepsOnArrival(const Deployment& d, double running) { return min(1.0, running) * (0.5 + d.steps_ahead); }

// Seconds in which each of `running` sequences is served once.
double CycleSeconds(const Deployment& d, double running, double slots, const PrefillTimes& prefill) {
  Trace off = Trace::Off();
  const DecodeTimes decode = TimeDecode(d, running, off);
  PrefillTimes times = prefill;
  times.stall = TimeStall(d, running, decode, off);
  const double others = running * (slots - 1) / slots;
  return CycleOf(d, others, 1, StepsOnArrival(d, running), decode, times, off).time / (1 * kS);
}

Flow AtCapacity(const Deployment& d, double slots, Trace& trace) {
  Flow flow = ClosedLoop(d, slots * AttentionGroups(d), slots, Rounds::kSteady, trace);
  flow.saturated = true;
  flow.utilisation = 1;
  return flow;
}

Seconds SlotWait(double utilisation, double slots, Seconds service, Trace& trace) {
  const double slot_wait = WaitOverService(min(0.999, utilisation), slots);
  const Seconds cycle = service;
  FIGURE(trace, slot_time, slot_wait * cycle,
         (Note{"Waiting for a slot", "a queue of random arrivals and as many servers as sequences fit (Sakasegawa 1977)"}), slot_wait,
         cycle);
  return slot_time;
}

}  // namespace

Flow OpenLoop(const Deployment& d, double arrivals, double most, Trace& trace) {
  const double groups = AttentionGroups(d), slots = max(1.0, most);
  const double per_group = arrivals / groups;
  Trace off = Trace::Off();
  const Flow full = AtCapacity(d, slots, off);
  const auto output = static_cast<double>(d.load.output);
  const double highest = full.rate.base() / output / groups;
  trace.Input("arrivals", arrivals, "serving.requests_per_s");
  if (per_group >= highest) return AtCapacity(d, slots, trace);
  Flow flow;
  trace.Input("output", output, "serving.output");
  const double running = Settled(slots, [&](double n) { return per_group * CycleSeconds(d, n, slots, full.prefill); });
  const DecodeTimes& decode = flow.decode = DecodeOf(d, running, trace);
  const PrefillTimes& prefill = flow.prefill = PrefillsOf(d, running, decode, trace);
  const Seconds mean_step = decode.token, prefill_stall = prefill.stall, first_prefill = prefill.first, request = d.engine.request;
  trace.Input("request", request, "serving.engine.request");
  const Hertz arrival_rate = per_group / (1 * kS);
  FIGURE(trace, busy, min(0.999, arrival_rate * prefill_stall * (slots - 1) / slots),
         (Note{"Share of time that others' prefills take", ""}), arrival_rate, prefill_stall, slots);
  FIGURE(trace, tpot, mean_step / (1 - busy),
         (Note{"Time of an output token", "a decode step, stretched by the prefills that come in between", "", "serving.tpot_s"}),
         mean_step, busy);
  FIGURE(trace, prefill_wait, busy / (1 - busy) * first_prefill / 2,
         (Note{"Waiting for prefills before this one", "a queue of random arrivals and equal work (M/D/1)"}), busy, first_prefill);
  FIGURE(trace, company, arrival_rate * (request + first_prefill + output * tpot), (Note{"Others that an arriving request finds", ""}),
         arrival_rate, request, first_prefill, output, tpot);
  const double steps = 0.5 + d.steps_ahead;
  FIGURE(trace, served, request + min(1, company) * steps * mean_step + first_prefill + prefill_wait,
         (Note{"First token of a request that has a slot", "handling, the step under way, its prefill and those before"}), request, company,
         steps, mean_step, first_prefill, prefill_wait);
  const double utilisation = per_group / highest;
  const Seconds slot_time = SlotWait(utilisation, slots, served + (output - 1) * tpot, trace);
  FIGURE(trace, ttft, served + slot_time,
         (Note{"Time to the first token", "handling, this prefill, the step under way, and both queues", "", "serving.ttft_s"}), served,
         slot_time);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot, (Note{"Whole request", "", "", "serving.request_latency_s"}), ttft, output,
         tpot);
  const Hertz all_arrivals = arrivals / (1 * kS);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, all_arrivals * output * one, (Note{"Output tokens a second", "what arrives is served", "", "serving.tokens_per_s"}),
         all_arrivals, output, one);
  FIGURE(trace, waiting, all_arrivals * slot_time,
         (Note{"Requests that wait for a slot", "of all replicas, Little's law", "", "serving.requests_waiting"}), all_arrivals, slot_time);
  FIGURE(trace, in_flight, all_arrivals * (request_latency - slot_time),
         (Note{"Requests in flight", "of all replicas, Little's law", "", "serving.requests_in_flight"}), all_arrivals, request_latency,
         slot_time);
  flow.running = running;
  flow.ttft = ttft;
  flow.tpot = tpot;
  flow.latency = request_latency;
  flow.queue = slot_time;
  flow.rate = rate;
  flow.in_flight = in_flight;
  flow.waiting = waiting;
  flow.utilisation = utilisation;
  return flow;
}

}  // namespace slipstick
