// From passes to requests: what users and operators see under a closed loop, an open loop, or disaggregated pools.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/engine_step/deployment.h"
#include "core/engine_step/phases.h"

namespace slipstick {

inline constexpr double kMostOccupied = 0.999;  // share of a server's time; at 1 its queue would never end

// Rates and requests are totals over all replicas. Invariants: request rate x latency = in_flight + waiting (Little's
// law), and latency = ttft + (output - 1) x tpot.
struct ServingPerformance {
  Seconds ttft, tpot, latency;
  // Parts of ttft, beside the own prefill: waiting for a slot or for a pool that is full; request handling and the step
  // in progress; prefills of others; on separate pools also the KV-cache transfer and the first decode step.
  Seconds queue, handling, prefills_before, transfer;
  TokensPerSecond rate;
  Ratio in_flight = 0, waiting = 0;
  Ratio running = 1;                        // sequences per attention group
  Ratio utilization = 0;                    // open loop: arrival rate over capacity
  bool saturated = false;                   // open loop: arrivals exceed capacity; the figures are those at capacity
  Bytes prefill_shortfall;                  // disaggregated: weights beyond the memory of a prefill device
  Hertz prefill_capacity, decode_capacity;  // disaggregated: requests per second of each pool
  DecodeTimes decode;
  PrefillTimes prefill;
};

// A request from its slot to its last token, in an engine that prefills and decodes in turn.
struct RequestCycle {
  Seconds alone;         // time to first token if no other request were prefilled
  Seconds prefill_wait;  // before its own prefill, for those of others
  Seconds tpot;          // including others' prefills between steps
  Seconds time;
  Ratio others = 0;  // requests of the group that are each prefilled once meanwhile
  Seconds handling;  // part of alone: request handling and the step in progress
  Seconds grouped;   // part of alone: other prompts in the same pass
};
// Other requests of a group, as one of them meets them.
struct Neighbors {
  Ratio others;       // that are each prefilled once during its cycle, beside those that share its prefill
  Ratio found;        // running on its arrival
  Ratio prompts = 1;  // of its own pass; where it is prefilled by itself, at any time, one
  Ratio ahead = 0;    // of a pass that it waits for
};
// Decode steps that an arriving request waits for, and those whose arrivals are prefilled together, where it finds so
// many running.
struct Residual {
  Ratio wait, gathered;
};
Residual ResidualSteps(const Deployment& deployment, Ratio found);
// Prefills of others, as a request meets them.
struct PrefillsMet {
  Seconds mean;   // alone
  Seconds found;  // the one in progress on an arrival, alone: a longer one is met more often
  Seconds paced;  // what each adds to the steps, no more often than the host prepares them
  PrefillStall stall;
};
PrefillsMet MeetsItsOwnKind(const PrefillTimes& prefill);
RequestCycle CycleOf(const Deployment& deployment, const Neighbors& neighbors, const DecodeTimes& decode,
                     const PrefillTimes& prefill, const PrefillsMet& met);
// Splits what comes before the first token.
void SetPrefillsBefore(const RequestCycle& cycle, Seconds prefill_wait, ServingPerformance& performance);
// Where the next request follows as soon as one ends, with `running` sequences.
RequestCycle SteadyCycle(const Deployment& deployment, Ratio running, const DecodeTimes& decode,
                         const PrefillTimes& prefill);

enum class Rounds { kSteady, kBenchmark };
// `concurrency` requests always in flight or waiting over all replicas: each one that ends is followed by the next.
// `slots`: sequences that one attention group can run.
// `turns`: per second that other sessions send to a group, at random; then the requests are turns of sessions.
ServingPerformance ClosedLoop(const Deployment& deployment, Ratio concurrency, Ratio slots, Rounds rounds,
                              std::optional<Hertz> turns = std::nullopt);
// Requests arrive at random, `arrivals` per second over all replicas.
ServingPerformance OpenLoop(const Deployment& deployment, Ratio arrivals, Ratio slots);
// Prefill and decode on separate pools, under any load. `requested_sequences`: per decode group where the load is a
// batch.
ServingPerformance TwoPools(const Deployment& deployment, Ratio requested_sequences, Ratio max_sequences);

// Least fixed point n = inflow(n), at most `slots`: inflow(n) is the number of sequences that arrive while one of n
// stays. It rises in steps, where products need another wave of tiles; the number that runs fluctuates by about its
// square root, so that what flows in is taken at squares and as linear in between. It then grows with the rate.
template <class Inflow>
double SettledSequences(double slots, const Inflow& inflow) {
  double low = 1, flow_low = inflow(low);
  if (flow_low <= 1) return inflow(flow_low);
  if (inflow(slots) >= slots) return slots;
  while (low < slots) {
    // What flows in at less than the answer is at most the answer.
    const double root = std::max(std::floor(std::sqrt(low)) + 1, std::floor(std::sqrt(flow_low)));
    const double high = std::min(root * root, slots), flow_high = inflow(high);
    if (!(flow_high >= high)) return low + (high - low) * (flow_low - low) / ((high - low) - (flow_high - flow_low));
    low = high, flow_low = flow_high;
  }
  return slots;
}

// Sequences that an engine lets an attention group run, at most `max_slots`. `may_wait`: it need not run them all;
// `offered`: no more arrive. Where the KV cache beyond the device's budget comes over the host link, from some number
// on each more takes longer than it brings: then as many as serve the most.
Ratio UsefulSlots(const Deployment& deployment, Ratio max_slots, bool may_wait, std::optional<Ratio> offered);

// Wait in an M/M/c queue over the service time (Sakasegawa 1977).
Ratio WaitOverService(Ratio load, Ratio servers);

// Of all replicas.
Ratio AttentionGroups(const Deployment& deployment);

}  // namespace slipstick
