// Open loop: requests arrive at random at the engine of closed_loop.cc. The number running is the number that arrive
// during one request's cycle; a request finds the other slots occupied in proportion to the load.
#include <cmath>

#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

// Cycle time in seconds with `running` sequences.
double CycleSeconds(const Deployment& deployment, double running, double slots, const PrefillTimes& prefill) {
  Trace off = Trace::Off();
  const double sequences = max(1.0, running);
  const DecodeTimes decode = TimeDecode(deployment, sequences, off);
  PrefillTimes times = prefill;
  times.stall = TimeStall(deployment, sequences, decode, off);
  const double others = running * (slots - 1) / slots;
  return CycleOf(deployment, others, OnePrompt(off), running, decode, times, off).time / (1 * kS);
}

ServingPerformance AtCapacity(const Deployment& deployment, double slots, Trace& trace) {
  const double attention_groups = AttentionGroups(deployment, trace);
  FIGURE(trace, concurrency, slots * attention_groups,
         (Note{"Requests in flight at capacity", "every slot is occupied"}), slots, attention_groups);
  trace.Alias("max_slots", slots, "slots");
  ServingPerformance performance = ClosedLoop(deployment, concurrency, slots, Rounds::kSteady, trace);
  performance.saturated = true;
  performance.utilization = 1;
  return performance;
}

// Cycle of a request in an attention group that always has `running` sequences.
Seconds SteadyCycleTime(const Deployment& deployment, double running, Trace& trace) {
  const DecodeTimes decode = TimeDecode(deployment, running, trace);
  const PrefillTimes prefill = TimePrefills(deployment, running, decode, trace);
  return SteadyCycle(deployment, running, decode, prefill, trace).time;
}

Seconds SlotWait(double utilization, double slots, Seconds cycle, Trace& trace) {
  const double slot_wait = [&] {
    const Trace::Scope scope(trace, "queue");
    trace.Alias("load", utilization, "utilization");
    trace.Alias("servers", slots, "slots");
    return WaitOverService(utilization, slots, trace);
  }();
  trace.Alias("slot_wait", slot_wait, "wait_over_service");
  FIGURE(trace, slot_time, slot_wait * cycle,
         (Note{"Waiting for a slot", "M/M/c queue with one server per slot (Sakasegawa 1977)"}), slot_wait, cycle);
  return slot_time;
}

// Rate of an attention group with every slot occupied, from the cycle of its requests.
void ExplainCapacity(const Deployment& deployment, double slots, double capacity, Trace& trace) {
  if (!trace.on()) return;
  const Trace::Scope scope(trace, "capacity");
  trace.Alias("running", slots, "slots");
  const Seconds cycle = SteadyCycleTime(deployment, slots, trace);
  trace.Record("capacity", "slots / cycle", capacity,
               Note{"Capacity of an attention group", "requests per second with every slot occupied"}, "slots, cycle",
               slots, cycle);
}

// Sequences that run: as many as arrive during one cycle.
double RunningSequences(const Deployment& deployment, double per_group, double slots, double capacity,
                        const PrefillTimes& prefill, Trace& trace) {
  const auto arriving = [&](double n) { return per_group * CycleSeconds(deployment, n, slots, prefill); };
  const double mean = SettledSequences(slots, arriving);
  trace.Procedure("mean", mean,
                  Note{"Mean number of running sequences",
                       "as many as arrive while one of them runs, at most the slots; the time that one runs is linear "
                       "between squares"},
                  "per_group, slots, capacity", per_group, slots, capacity);
  if (trace.on() && mean > 1 && mean < slots) {
    // As many as arrive in a cycle that itself grows with them; a faster engine shortens the cycle and raises the
    // capacity alike.
    constexpr double kNudge = 1.0 / 100;
    const double grown = (arriving((1 + kNudge) * mean) / arriving(mean) - 1) / kNudge;
    trace.MovesBy(0, 1 / (1 - grown));
    trace.MovesBy(2, -1 / (1 - grown));
  }
  return mean;
}

}  // namespace

ServingPerformance OpenLoop(const Deployment& deployment, double arrivals, double max_slots, Trace& trace) {
  const double attention_groups = AttentionGroups(deployment, trace);
  Trace off = Trace::Off();
  const double slots = UsefulSlots(deployment, max_slots, true, std::nullopt, trace);
  trace.Input("arrivals", arrivals, "serving.requests_per_s");
  FIGURE(trace, per_group, arrivals / attention_groups, (Note{"Arrivals at an attention group", "per second"}),
         arrivals, attention_groups);
  const ServingPerformance full = AtCapacity(deployment, slots, off);
  const auto output = static_cast<double>(deployment.load.output);
  const double capacity = full.rate.base() / output / attention_groups;
  if (per_group >= capacity) return AtCapacity(deployment, slots, trace);
  ExplainCapacity(deployment, slots, capacity, trace);
  ServingPerformance performance;
  const double mean = RunningSequences(deployment, per_group, slots, capacity, full.prefill, trace);
  FIGURE(trace, running, max(1.0, mean), (Note{"Running sequences of a decode step", "at least one"}), mean);
  performance.running = running;
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, running, trace);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, running, decode, trace);
  FIGURE(trace, others, mean * (slots - 1) / slots,
         (Note{"Other running requests", "arrivals during one request's cycle"}), mean, slots);
  trace.Alias("found", mean, "mean");
  const RequestCycle cycle = CycleOf(deployment, others, OnePrompt(trace), mean, decode, prefill, trace);
  const Seconds steady_token = cycle.tpot, alone = cycle.alone, prefill_wait = cycle.prefill_wait;
  FIGURE(
      trace, tpot, 1 * steady_token,
      (Note{"Time per output token (TPOT)", "after the first, with others' prefills in between", "", "serving.tpot_s"}),
      steady_token);
  FIGURE(trace, utilization, per_group / capacity, (Note{"Utilization", "arrivals over capacity"}), per_group,
         capacity);
  const Seconds slot_time = SlotWait(utilization, slots, cycle.time, trace);
  FIGURE(trace, ttft, alone + prefill_wait + slot_time,
         (Note{"Time to first token (TTFT)", "own prefill, waiting for others' prefills and for a slot", "",
               "serving.ttft_s"}),
         alone, prefill_wait, slot_time);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot,
         (Note{"End-to-end latency", "", "", "serving.request_latency_s"}), ttft, output, tpot);
  FIGURE(trace, all_arrivals, arrivals / (1 * kS), (Note{"Arrival rate", "all replicas"}), arrivals);
  FIGURE(trace, rate, all_arrivals * output * (1 * kToken),
         (Note{"Throughput in output tokens", "all arrivals are served", "", "serving.tokens_per_s"}), all_arrivals,
         output);
  FIGURE(trace, waiting, all_arrivals * slot_time,
         (Note{"Requests waiting for a slot", "all replicas, Little's law", "", "serving.requests_waiting"}),
         all_arrivals, slot_time);
  FIGURE(trace, in_flight, all_arrivals * (request_latency - slot_time),
         (Note{"Requests in flight", "all replicas, Little's law", "", "serving.requests_in_flight"}), all_arrivals,
         request_latency, slot_time);
  performance.ttft = ttft;
  performance.tpot = tpot;
  performance.latency = request_latency;
  performance.queue = slot_time;
  trace.Alias("queue", slot_time, "slot_time");
  SetPrefillsBefore(cycle, prefill_wait, performance, trace);
  performance.rate = rate;
  performance.in_flight = in_flight;
  performance.waiting = waiting;
  performance.utilization = utilization;
  return performance;
}

}  // namespace slipstick
