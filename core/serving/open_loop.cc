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
  const double sequences = max(1.0, running);
  const DecodeTimes decode = TimeDecode(d, sequences, off);
  PrefillTimes times = prefill;
  times.stall = TimeStall(d, sequences, decode, off);
  const double others = running * (slots - 1) / slots;
  return CycleOf(d, others, 1, StepsOnArrival(d, running), decode, times, off).time / (1 * kS);
}

Flow AtCapacity(const Deployment& d, double slots, Trace& trace) {
  Flow flow = ClosedLoop(d, slots * AttentionGroups(d), slots, Rounds::kSteady, trace);
  flow.saturated = true;
  flow.utilisation = 1;
  return flow;
}

Seconds SlotWait(double utilisation, double slots, Seconds cycle, Trace& trace) {
  const double slot_wait = WaitOverService(min(0.999, utilisation), slots);
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
  const double mean = Settled(slots, [&](double n) { return per_group * CycleSeconds(d, n, slots, full.prefill); });
  const double running = flow.running = max(1.0, mean);
  const DecodeTimes& decode = flow.decode = DecodeOf(d, running, trace);
  const PrefillTimes& prefill = flow.prefill = PrefillsOf(d, running, decode, trace);
  FIGURE(trace, others, mean * (slots - 1) / slots, (Note{"Others that run beside a request", "as many as arrive in the time of one"}),
         mean, slots);
  const RequestCycle cycle = CycleOf(d, others, 1, StepsOnArrival(d, mean), decode, prefill, trace);
  const Seconds token = cycle.tpot, alone = cycle.alone, prefill_wait = cycle.prefill_wait;
  FIGURE(trace, tpot, 1 * token, (Note{"Time of an output token", "after the first, others' prefills in the way", "", "serving.tpot_s"}),
         token);
  const double utilisation = per_group / highest;
  const Seconds slot_time = SlotWait(utilisation, slots, cycle.time, trace);
  FIGURE(trace, ttft, alone + prefill_wait + slot_time,
         (Note{"Time to the first token", "alone, behind others' prefills, and for a slot", "", "serving.ttft_s"}), alone, prefill_wait,
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
