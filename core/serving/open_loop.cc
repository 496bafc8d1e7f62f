// Open loop: requests arrive at random at the engine of closed_loop.cc. The number running is the number that arrive
// during one request's cycle; a request finds the other slots occupied in proportion to the load.
#include "core/base/figure.h"
#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"
#include "core/serving/random_arrivals.h"

namespace slipstick {
namespace {

// Sequences in a request's decode step, with `running` sequences on average.
Ratio DecodedTogether(const Deployment& deployment, Ratio running, Ratio slots) {
  if (!deployment.load.sessions) return Figure("Running sequences of a decode step", max(1.0, running), "at least one");
  return Figure("Running sequences of a turn's decode step", min(slots, running + 1), "with those that it finds");
}

// The cycle of one request whose decode steps hold `sequences`.
RequestCycle CycleWith(const Deployment& deployment, const RandomArrivals& arrivals, Ratio sequences, Ratio slots,
                       const DecodeTimes& decode, const PrefillTimes& prefill) {
  if (deployment.load.sessions)
    return RandomCycle(deployment, arrivals, decode, prefill.first, ArrivingAt(deployment, sequences, decode));
  const Ratio others =
      Figure("Other running requests", arrivals.found * (slots - 1) / slots, "arrivals during one request's cycle");
  return CycleOf(deployment, {others, arrivals.found}, decode, prefill, MeetsItsOwnKind(prefill));
}

// Cycle time in seconds with `running` sequences; no number has a node.
double CycleSeconds(const Deployment& deployment, Hertz arrivals, double running, double slots,
                    const PrefillTimes& prefill) {
  const Ratio sequences = DecodedTogether(deployment, running, slots);
  const DecodeTimes decode = TimeDecode(deployment, sequences);
  PrefillTimes times = prefill;
  if (!deployment.load.sessions) times.stall = TimeStall(deployment, sequences, decode);
  return CycleWith(deployment, {arrivals, running}, sequences, slots, decode, times).time / (1 * kS);
}

ServingPerformance AtCapacity(const Deployment& deployment, Ratio slots) {
  const Ratio concurrency =
      Figure("Requests in flight at capacity", slots * AttentionGroups(deployment), "every slot is occupied");
  ServingPerformance performance = ClosedLoop(deployment, concurrency, slots, Rounds::kSteady);
  performance.saturated = true;
  performance.utilization = 1;
  return performance;
}

// Number of running sequences: the arrivals at a group during one cycle. `full`: the cycle with every slot occupied.
Ratio RunningSequences(const Deployment& deployment, Ratio per_group, Ratio slots, Ratio capacity,
                       const ServingPerformance& full) {
  PrefillTimes prefill = full.prefill;
  prefill.first = PlainOf(prefill.first), prefill.shared = PlainOf(prefill.shared);
  prefill.alone.fixed = PlainOf(prefill.alone.fixed);
  const Hertz rate = PlainOf(per_group) / (1 * kS);
  const auto arriving = [&](double n) {
    return per_group.base() * CycleSeconds(PlainOf(deployment), rate, n, slots, prefill);
  };
  const double mean = SettledSequences(slots.base(), arriving);
  double share = 0;
  if (per_group.node() != nullptr && mean > 1 && mean < slots) {
    // The number of running sequences is the number of arrivals in a cycle, which itself grows with that number. A
    // faster engine shortens the cycle and raises the capacity alike.
    constexpr double kNudge = 1.0 / 100;
    const double grown = (arriving((1 + kNudge) * mean) / arriving(mean) - 1) / kNudge;
    share = 1 / (1 - grown);
  }
  return Procedure("Mean number of running sequences", Ratio(mean),
                   {Ground(per_group, share), slots, Ground(capacity, -share)},
                   "as many as arrive while one of them runs, at most the slots; the time that one runs is linear "
                   "between squares");
}

}  // namespace

ServingPerformance OpenLoop(const Deployment& deployment, Ratio arrivals, Ratio max_slots) {
  const Ratio groups = AttentionGroups(deployment), output(deployment.load.output);
  const Ratio slots = UsefulSlots(deployment, max_slots, true, std::nullopt);
  const Ratio per_group = Figure("Arrivals at an attention group", arrivals / groups, "per second");
  const ServingPerformance full = AtCapacity(deployment, slots);
  const Ratio capacity = Figure("Capacity of an attention group", full.rate / (1 * kTokenPerS) / output / groups,
                                "requests per second with every slot occupied");
  if (per_group >= capacity) return full;
  ServingPerformance performance;
  const Ratio mean = RunningSequences(deployment, per_group, slots, capacity, full);
  performance.running = DecodedTogether(deployment, mean, slots);
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, performance.running);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, performance.running, decode);
  const RequestCycle cycle =
      CycleWith(deployment, {per_group / (1 * kS), mean}, performance.running, slots, decode, prefill);
  performance.tpot =
      Figure("Time per output token (TPOT)", cycle.tpot, "after the first, with others' prefills in between");
  performance.utilization = Figure("Utilization", per_group / capacity, "arrivals over capacity");
  performance.queue = Figure("Waiting for a slot", WaitOverService(performance.utilization, slots) * cycle.time,
                             "M/M/c queue with one server per slot (Sakasegawa 1977)");
  performance.ttft = Figure("Time to first token (TTFT)", cycle.alone + cycle.prefill_wait + performance.queue,
                            "own prefill, waiting for others' prefills and for a slot");
  performance.latency = Figure("End-to-end latency", performance.ttft + (output - 1) * performance.tpot);
  SetPrefillsBefore(cycle, cycle.prefill_wait, performance);
  const Hertz all_arrivals = Figure("Arrival rate", arrivals / (1 * kS), "all replicas");
  performance.rate =
      Figure("Throughput in output tokens", all_arrivals * output * (1 * kToken), "all arrivals are served");
  performance.waiting =
      Figure("Requests waiting for a slot", all_arrivals * performance.queue, "all replicas, Little's law");
  performance.in_flight = Figure("Requests in flight", all_arrivals * (performance.latency - performance.queue),
                                 "all replicas, Little's law");
  return performance;
}

}  // namespace slipstick
