// Open loop: requests arrive at random at the engine of closed_loop.cc. The number running is the number that arrive during one
// request's cycle; a request finds the other slots occupied in proportion to the load.
#include <algorithm>

#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

double ResidualSteps(const Deployment& deployment, double running) { return min(1.0, running) * (0.5 + deployment.launch.steps_ahead); }

// Cycle time in seconds with `running` sequences.
double CycleSeconds(const Deployment& deployment, double running, double slots, const PrefillTimes& prefill) {
  Trace off = Trace::Off();
  const double sequences = max(1.0, running);
  const DecodeTimes decode = TimeDecode(deployment, sequences, off);
  PrefillTimes times = prefill;
  times.stall = TimeStall(deployment, sequences, decode, off);
  const double others = running * (slots - 1) / slots;
  return CycleOf(deployment, others, 1, ResidualSteps(deployment, running), decode, times, off).time / (1 * kS);
}

ServingPerformance AtCapacity(const Deployment& deployment, double slots, Trace& trace) {
  ServingPerformance performance = ClosedLoop(deployment, slots * AttentionGroups(deployment), slots, Rounds::kSteady, trace);
  performance.saturated = true;
  performance.utilization = 1;
  return performance;
}

Seconds SlotWait(double utilization, double slots, Seconds cycle, Trace& trace) {
  const double slot_wait = WaitOverService(min(0.999, utilization), slots);
  FIGURE(trace, slot_time, slot_wait * cycle, (Note{"Waiting for a slot", "M/M/c queue with one server per slot (Sakasegawa 1977)"}),
         slot_wait, cycle);
  return slot_time;
}

}  // namespace

ServingPerformance OpenLoop(const Deployment& deployment, double arrivals, double max_slots, Trace& trace) {
  const double groups = AttentionGroups(deployment), slots = max(1.0, max_slots);
  const double per_group = arrivals / groups;
  Trace off = Trace::Off();
  const ServingPerformance full = AtCapacity(deployment, slots, off);
  const auto output = static_cast<double>(deployment.load.output);
  const double capacity = full.rate.base() / output / groups;
  trace.Input("arrivals", arrivals, "serving.requests_per_s");
  if (per_group >= capacity) return AtCapacity(deployment, slots, trace);
  ServingPerformance performance;
  trace.Input("output", output, "serving.output");
  const double mean = SettledSequences(slots, [&](double n) { return per_group * CycleSeconds(deployment, n, slots, full.prefill); });
  const double running = performance.running = max(1.0, mean);
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, running, trace);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, running, decode, trace);
  FIGURE(trace, others, mean * (slots - 1) / slots, (Note{"Other running requests", "arrivals during one request's cycle"}), mean, slots);
  const RequestCycle cycle = CycleOf(deployment, others, 1, ResidualSteps(deployment, mean), decode, prefill, trace);
  const Seconds token = cycle.tpot, alone = cycle.alone, prefill_wait = cycle.prefill_wait;
  FIGURE(trace, tpot, 1 * token,
         (Note{"Time per output token (TPOT)", "after the first, with others' prefills in between", "", "serving.tpot_s"}), token);
  const double utilization = per_group / capacity;
  const Seconds slot_time = SlotWait(utilization, slots, cycle.time, trace);
  FIGURE(trace, ttft, alone + prefill_wait + slot_time,
         (Note{"Time to first token (TTFT)", "own prefill, waiting for others' prefills and for a slot", "", "serving.ttft_s"}), alone,
         prefill_wait, slot_time);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot, (Note{"End-to-end latency", "", "", "serving.request_latency_s"}), ttft,
         output, tpot);
  const Hertz all_arrivals = arrivals / (1 * kS);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, all_arrivals * output * one,
         (Note{"Throughput in output tokens", "all arrivals are served", "", "serving.tokens_per_s"}), all_arrivals, output, one);
  FIGURE(trace, waiting, all_arrivals * slot_time,
         (Note{"Requests waiting for a slot", "all replicas, Little's law", "", "serving.requests_waiting"}), all_arrivals, slot_time);
  FIGURE(trace, in_flight, all_arrivals * (request_latency - slot_time),
         (Note{"Requests in flight", "all replicas, Little's law", "", "serving.requests_in_flight"}), all_arrivals, request_latency,
         slot_time);
  performance.ttft = ttft;
  performance.tpot = tpot;
  performance.latency = request_latency;
  performance.queue = slot_time;
  performance.rate = rate;
  performance.in_flight = in_flight;
  performance.waiting = waiting;
  performance.utilization = utilization;
  return performance;
}

}  // namespace slipstick
