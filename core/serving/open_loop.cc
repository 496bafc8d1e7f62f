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
  Seconds prefill;   // of a prompt, in steps that decode too
  Ratio at_arrival;  // pass with the attention groups that prefill as a request arrives, over one with all groups
};

// The cycle of one request at a mean number of running requests and a rate of arrivals. Prompts that share a step take
// less time each. The request's own prompt (or one prompt added to a step) takes its time under full load, or its
// present time if that is less: kernels that mix prefill and decode may take longer the more sequences decode.
RequestCycle CycleWith(const Deployment& deployment, Hertz rate, Ratio running, const DecodeTimes& decode,
                       Seconds prefill, ArrivingPrompts prompts, const FullLoad& full) {
  if (deployment.load.sessions) return RandomCycle(deployment, {rate, running}, decode, prefill, prompts);
  const Seconds own = Figure("Prefill of its own prompt", min(full.prefill, prompts.service) * full.at_arrival,
                             "as under full load, with the groups that prefill together");
  prompts.square_service = prompts.service * own;
  prompts.single = prompts.single * full.at_arrival;
  return RandomCycle(deployment, OfOtherSlots({rate, running}, full.slots), decode, prefill, prompts, own);
}

// The steps in which a request decodes, among `all` arrivals.
struct OwnSteps {
  OwnSteps(const Deployment& deployment, const RandomArrivals& all, Ratio slots)
      : met(DecodedTogether(deployment, all.found, slots)), decode(TimeDecode(deployment, met)) {
    const Ratio own = OwnSequences(deployment, all, slots, decode, ArrivingAt(deployment, met, decode));
    decode = TimeDecode(deployment, own);
    prompts = ArrivingAt(deployment, own, decode);
  }
  Ratio met;
  DecodeTimes decode;
  ArrivingPrompts prompts;
};

// The rate at which requests leave a group with `running` requests on average.
struct Leaving {
  Leaving(const Deployment& of, Hertz all, Ratio mean, Seconds prefill, const FullLoad& full_load)
      : deployment(of), running(mean), alone(prefill), full(full_load), steps(of, {all, mean}, full_load.slots) {}

  [[nodiscard]] Hertz While(Hertz arriving) const {
    return running / CycleWith(deployment, arriving, running, steps.decode, alone, steps.prompts, full).time;
  }

  const Deployment& deployment;
  Ratio running;
  Seconds alone;
  FullLoad full;
  OwnSteps steps;
};

// The rate at which requests leave, and therefore arrive, with `running` requests on average; near `arrivals`.
Hertz RateWith(const Deployment& deployment, Hertz arrivals, Ratio running, Seconds prefill, const FullLoad& full) {
  const Leaving plain(PlainOf(deployment), PlainOf(arrivals), PlainOf(running), PlainOf(prefill),
                      {PlainOf(full.slots), PlainOf(full.prefill), PlainOf(full.at_arrival)});
  constexpr int kHalvings = 30;
  Hertz low, high = plain.While(low);  // with more arrivals, requests leave more slowly
  for (int i = 0; i < kHalvings; ++i) {
    const Hertz middle = (low + high) / 2;
    (plain.While(middle) > middle ? low : high) = middle;
  }
  if (prefill.node() == nullptr) return high;
  // If requests leave faster, more arrive, and these slow down the leaving.
  const double slowed = MeasuredShare([&](double by) { return plain.While(by * high).base(); });
  const Hertz leaving = Figure("Rate of leaving", Leaving(deployment, arrivals, running, prefill, full).While(high),
                               "of requests, at this rate of arrivals");
  return Procedure("Arrivals that keep so many running", high, {{leaving, 1 / (1 - slowed)}},
                   "as many as leave, but for the steps of tiles");
}

// Squared coefficient of variation of the time that a request keeps its slot. Output and prompt lengths are constant,
// but turns of sessions prefill different numbers of tokens.
Ratio VariationOf(const ArrivingPrompts& prompts, Seconds held) {
  return Figure("Variation of the time in a slot",
                max(0.0, (prompts.square_service - prompts.service * prompts.service) / (held * held)),
                "variance over the square of the mean: requests differ in what they prefill");
}

// Handling comes before a request needs a slot.
Seconds HeldIn(const Deployment& deployment, Seconds cycle) {
  return Figure("Time in a slot", cycle - TimeRequest(deployment), "without the handling before it");
}

ServingPerformance AtCapacity(const Deployment& deployment, Ratio slots) {
  const Ratio concurrency =
      Figure("Requests in flight at capacity", slots * AttentionGroups(deployment), "every slot is occupied");
  ServingPerformance performance = ClosedLoop(deployment, concurrency, slots, Rounds::kSteady);
  const Seconds latency = performance.latency, held = HeldIn(deployment, latency);
  performance.rate = Figure("Throughput in output tokens", performance.rate * (latency / held),
                            "the next requests are handled while every slot is occupied");
  performance.in_flight = Figure("Requests in flight", performance.in_flight * (latency / held), "Little's law");
  performance.saturated = true;
  performance.utilization = 1;
  return performance;
}

// Number of running sequences: the arrivals at a group during one cycle.
Ratio RunningSequences(const Deployment& deployment, Ratio per_group, Seconds prefill, const FullLoad& full) {
  const auto arriving = [&](Hertz rate, double running, Seconds alone) {
    return running * (rate / RateWith(deployment, rate, running, alone, full));
  };
  const Ratio settled = SettledSequences(
      full.slots, [&](double n) { return double{arriving(PlainOf(per_group) / (1 * kS), n, PlainOf(prefill))}; },
      [&](double n) { return Figure("Arrivals during a cycle", arriving(per_group / (1 * kS), n, prefill)); });
  return Figure("Mean number of running sequences", settled,
                "as many as arrive while one of them runs, at most the slots; the time that one runs is computed for "
                "1, 4, 9, 16, … sequences and interpolated between them");
}

// The deployment as a request's own prompt finds it: only the attention groups at which a prompt arrived during a pass
// prefill with its own.
Deployment AtArrival(Deployment deployment, Hertz arriving, Seconds pass) {
  const Ratio groups = deployment.mapping.attention_dp;
  if (!(groups > 1)) return deployment;
  deployment.memo = nullptr;  // its prefills are those of all groups
  deployment.mapping.prefilling_groups =
      Figure("Attention groups that prefill together", 1 + (groups - 1) * (1 - exp(-(arriving * pass))),
             "its own, and those at which a prompt arrived during a pass");
  return deployment;
}

}  // namespace

Ratio FilledSlots(const Deployment& deployment, Ratio slots, Ratio prompts, Ratio steps) {
  if (deployment.engine.scheduler.prefills_first) return slots;
  return Figure("Slots that prompts can fill", min(slots, max(1, prompts * steps)),
                "no more than the prompts of the steps in which a request decodes");
}

ServingPerformance OpenLoop(const Deployment& deployment, Ratio arrivals, Ratio max_slots) {
  const Ratio groups = AttentionGroups(deployment), output(deployment.load.output);
  const Ratio filling = FillStep(deployment, ComputedTokens(deployment.load).tokens);
  const Ratio slots =
      FilledSlots(deployment, UsefulSlots(deployment, max_slots, true, std::nullopt), filling, DecodeSteps(deployment));
  const Ratio per_group = Figure("Arrivals at an attention group", arrivals / groups, "per second");
  const ServingPerformance full = AtCapacity(deployment, slots);
  const Ratio capacity = Figure("Capacity of an attention group", full.rate / (1 * kTokenPerS) / output / groups,
                                "requests per second with every slot occupied");
  if (per_group >= capacity) return full;
  ServingPerformance performance;
  const Hertz arriving = per_group / (1 * kS);
  const Deployment at_arrival = AtArrival(deployment, arriving, full.prefill.first);
  const FullLoad full_load{slots, ArrivingAt(deployment, slots, full.decode).service,
                           PrefillsOf(at_arrival, slots, full.decode).first / full.prefill.first};
  const Ratio mean = RunningSequences(deployment, per_group, full.prefill.first, full_load);
  performance.running = DecodedTogether(deployment, mean, slots);
  const DecodeTimes met = DecodeOf(deployment, performance.running);
  const PrefillTimes& prefill = performance.prefill = PrefillsOf(at_arrival, performance.running, met);
  const Hertz rate = RateWith(deployment, arriving, mean, prefill.first, full_load);
  const OwnSteps own(deployment, {arriving, mean}, slots);
  performance.decode = own.decode;
  const RequestCycle cycle = CycleWith(deployment, rate, mean, own.decode, prefill.first, own.prompts, full_load);
  performance.tpot = Figure("Time per output token (TPOT)", min(cycle.tpot, full.tpot),
                            "after the first, with others' prefills in between; at most the time with every slot "
                            "occupied, in which requests are prefilled together as others end");
  performance.utilization = Figure("Utilization", per_group / capacity, "arrivals over capacity");
  const Seconds held = HeldIn(deployment, cycle.alone + cycle.prefill_wait + (output - 1) * performance.tpot);
  performance.queue = Figure("Waiting for a slot",
                             WaitOverService(performance.utilization, slots, VariationOf(own.prompts, held)) * held,
                             "a queue with one server per slot");
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
