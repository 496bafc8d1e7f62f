// Open loop: requests arrive at random at the queue of random_arrivals.cc. The number running is the number that arrive
// during one request's cycle.
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

// An attention group whose slots are all occupied.
struct FullLoad {
  Ratio slots;
  Seconds prefill;  // of a prompt, in steps that decode too
};

// The cycle of one request at a mean number of running requests and a rate of arrivals. The more prompts share a step,
// the less of it each takes; the request's own prompt, and one more in a step, take what they take under full load.
RequestCycle CycleWith(const Deployment& deployment, Hertz rate, Ratio running, const DecodeTimes& decode,
                       Seconds prefill, ArrivingPrompts prompts, const FullLoad& full) {
  if (deployment.load.sessions) return RandomCycle(deployment, {rate, running}, decode, prefill, prompts);
  prompts.square_service = prompts.service * full.prefill;
  return RandomCycle(deployment, OfOtherSlots({rate, running}, full.slots), decode, prefill, prompts, full.prefill);
}

// The rate at which requests leave, and so arrive, with `running` in the mean. The numbers here have no nodes.
Hertz RateWith(const Deployment& explained, double running, Seconds prefill, const FullLoad& full_load) {
  const Deployment& deployment = PlainOf(explained);
  const Seconds alone = PlainOf(prefill);
  const FullLoad full{PlainOf(full_load.slots), PlainOf(full_load.prefill)};
  const Ratio sequences = DecodedTogether(deployment, running, full.slots);
  const DecodeTimes decode = TimeDecode(deployment, sequences);
  const ArrivingPrompts prompts = ArrivingAt(deployment, sequences, decode);
  const auto leaving = [&](Hertz rate) {
    return running / CycleWith(deployment, rate, running, decode, alone, prompts, full).time;
  };
  constexpr int kHalvings = 30;
  Hertz low, high = leaving(low);  // more arrivals leave more slowly
  for (int i = 0; i < kHalvings; ++i) {
    const Hertz middle = (low + high) / 2;
    (leaving(middle) > middle ? low : high) = middle;
  }
  return high;
}

ServingPerformance AtCapacity(const Deployment& deployment, Ratio slots) {
  const Ratio concurrency =
      Figure("Requests in flight at capacity", slots * AttentionGroups(deployment), "every slot is occupied");
  ServingPerformance performance = ClosedLoop(deployment, concurrency, slots, Rounds::kSteady);
  performance.saturated = true;
  performance.utilization = 1;
  return performance;
}

// Number of running sequences: the arrivals at a group during one cycle.
Ratio RunningSequences(const Deployment& deployment, Ratio per_group, Ratio capacity, Seconds prefill,
                       const FullLoad& full) {
  const Ratio slots = full.slots;
  const Hertz rate = PlainOf(per_group) / (1 * kS);
  const auto arriving = [&](double n) { return n * double{rate / RateWith(deployment, n, prefill, full)}; };
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
  const FullLoad full_load{slots, ArrivingAt(deployment, slots, full.decode).service};
  const Ratio mean = RunningSequences(deployment, per_group, capacity, full.prefill.first, full_load);
  performance.running = DecodedTogether(deployment, mean, slots);
  const DecodeTimes& decode = performance.decode = DecodeOf(deployment, performance.running);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(deployment, performance.running, decode);
  const Hertz rate =
      Procedure("Arrivals that keep so many running", RateWith(deployment, mean.base(), prefill.first, full_load),
                {Ground(per_group, 1)}, "those at a group, but for the steps of tiles");
  const RequestCycle cycle = CycleWith(deployment, rate, mean, decode, prefill.first,
                                       ArrivingAt(deployment, performance.running, decode), full_load);
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
