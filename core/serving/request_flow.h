// From steps to requests: what a user waits for and what an engine gives, closed loop, open loop, saturated, static.
#pragma once

#include <cmath>

#include "core/serving/deployment.h"
#include "core/serving/serving_memory.h"
#include "core/serving/step_time.h"

namespace slipstick {

// Prompts of the load on their way through the prefill.
struct PrefillTimes {
  PassCost alone;  // one prompt in a pass of its own, on the devices
  Seconds first;   // the same with the engine's cost of that step
  Seconds shared;  // a prompt's share of the devices' time, in a pass of as many as the engine takes together
  Seconds stall;   // by which a prompt's prefill lengthens the decode steps of the others
};
// Output tokens of a sequence come every `step`, more than one where drafts are kept.
struct DecodeTimes {
  PassCost step;
  Seconds token;  // a step over the tokens it gives
  // Cache that does not fit the device: brought from the host while the step runs.
  Bytes offloaded;
  Seconds transfer, exposed;  // on the link; of it, what the step does not hide
};
DecodeTimes TimeDecode(const Deployment& d, double sequences, Trace& trace);
// The stall alone, of `running` sequences.
Seconds TimeStall(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace);
PrefillTimes TimePrefills(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace);

// The two as a search's memo knows them.
DecodeTimes DecodeOf(const Deployment& d, double running, Trace& trace);
PrefillTimes PrefillsOf(const Deployment& d, double running, const DecodeTimes& decode, Trace& trace);

// What a load answers. Rates and requests are of all replicas: requests/s x latency = in_flight + waiting, always, and
// latency = ttft + (output - 1) x tpot.
struct Flow {
  Seconds ttft, tpot, latency;
  Seconds queue;  // of the first token: waiting for a slot, or for a pool that is full
  TokensPerSecond rate;
  double in_flight = 0, waiting = 0;
  double running = 1;                       // sequences of one attention group
  double utilisation = 0;                   // of the rate at saturation, in an open loop
  bool saturated = false;                   // more arrives than is served; the figures are those at capacity
  Bytes prefill_lack;                       // of memory on a prefill pool's device, for the weights
  Hertz prefill_capacity, decode_capacity;  // of requests, where each has a pool
  DecodeTimes decode;
  PrefillTimes prefill;
};

// A request in an engine that prefills and decodes in turn, between the moment it has a slot and its last token.
struct RequestCycle {
  Seconds alone;         // to the first token if no other request were prefilled
  Seconds prefill_wait;  // for others' prefills, before its own
  Seconds tpot;          // others' prefills included
  Seconds time;
};
// `others`: requests of the group that are prefilled once each in the time of the cycle, beside `together` that share its own
// prefill. `interrupted`: the decode steps that it waits for on arrival.
RequestCycle CycleOf(const Deployment& d, double others, double together, double interrupted, const DecodeTimes& decode,
                     const PrefillTimes& prefill, Trace& trace);

enum class Rounds { kSteady, kBenchmark };
// `concurrency` requests always in flight or waiting, over all replicas: each is followed by the next when it ends. `most`: sequences
// that one attention group can hold.
Flow ClosedLoop(const Deployment& d, double concurrency, double most, Rounds rounds, Trace& trace);
// Requests that arrive at random, `arrivals` a second over all replicas.
Flow OpenLoop(const Deployment& d, double arrivals, double most, Trace& trace);
// Prefill and decode on pools of their own, under any load; `asked` sequences in each decode group where the load is a batch.
Flow TwoPools(const Deployment& d, double asked, double most, Trace& trace);

// The number of sequences, at most `slots`, that is its own `inflow`: those that come while one stays, nearly linear in the number.
template <class Inflow>
double Settled(double slots, const Inflow& inflow) {
  double low = 1, low_excess = inflow(1.0) - 1;
  if (low_excess <= 0) return inflow(1 + low_excess);
  if (slots <= 1) return 1;
  double high = slots, high_excess = inflow(slots) - slots;
  if (high_excess >= 0) return slots;
  for (int i = 0; i < 4 && high - low > 0.02 * high; ++i) {
    const double middle = low + (high - low) * low_excess / (low_excess - high_excess);
    const double excess = inflow(middle) - middle;
    if (std::abs(excess) < 0.002 * middle) return middle;
    (excess > 0 ? low : high) = middle;
    (excess > 0 ? low_excess : high_excess) = excess;
  }
  return low + (high - low) * low_excess / (low_excess - high_excess);
}

// Wait of an M/M/c queue over the service time (Sakasegawa 1977).
inline double WaitOverService(double utilisation, double servers) {
  return pow(utilisation, sqrt(2 * (servers + 1)) - 1) / (servers * (1 - utilisation));
}

inline double AttentionGroups(const Deployment& d) { return d.replicas * d.attention_dp; }
// Whether requests of equal length go on together, prefill after prefill: the generation of engines without graphs.
inline bool GroupsPrefills(const Deployment& d) { return d.engine.scheduler.groups_prefills && !d.graphs; }
// Prompt tokens that a prefill computes, the others are in the cache; at least one is computed.
double ComputedTokens(const ServingLoad& load);

// A batch that starts together: one prefill of all of it, then `output` steps.
struct StaticBatch {
  Seconds ttft, tpot, latency;
};
StaticBatch TimeStaticBatch(const Deployment& d, double sequences, const KvCacheBudget& budget, Trace& trace);

}  // namespace slipstick
