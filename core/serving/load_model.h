// From passes to requests: what users and operators see under a closed loop, an open loop, or disaggregated pools.
#pragma once

#include <cmath>
#include <optional>

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/phases.h"

namespace slipstick {

// Rates and requests are totals over all replicas. Invariants: request rate x latency = in_flight + waiting (Little's
// law), and latency = ttft + (output - 1) x tpot.
struct ServingPerformance {
  Seconds ttft, tpot, latency;
  // Parts of ttft, beside the own prefill: waiting for a slot or for a pool that is full; request handling and the step
  // in progress; prefills of others; on separate pools also the KV-cache transfer and the first decode step.
  Seconds queue, handling, prefills_before, transfer;
  TokensPerSecond rate;
  double in_flight = 0, waiting = 0;
  double running = 1;                       // sequences per attention group
  double utilization = 0;                   // open loop: arrival rate over capacity
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
  double others = 0;  // requests of the group that are each prefilled once meanwhile
  Seconds handling;   // part of alone: request handling and the step in progress
  Seconds grouped;    // part of alone: other prompts in the same pass
};
// Prompts of a pass (the nearest figure batched_prompts), and those of a pass that it waits for (prompts_ahead).
struct PromptGroup {
  double prompts = 1, ahead = 0;
};
// `others`: requests of the group that are each prefilled once during the cycle, beside those that share its prefill.
// `found`: requests that it finds running on arrival, the nearest figure of that name.
RequestCycle CycleOf(const Deployment& deployment, double others, const PromptGroup& group, double found,
                     const DecodeTimes& decode, const PrefillTimes& prefill, Trace& trace);
// Splits what comes before the first token.
void SetPrefillsBefore(const RequestCycle& cycle, Seconds prefill_wait, ServingPerformance& performance, Trace& trace);
// A request that is prefilled by itself, at any time.
PromptGroup OnePrompt(Trace& trace);
// Where the next request follows as soon as one ends, with `running` sequences.
RequestCycle SteadyCycle(const Deployment& deployment, double running, const DecodeTimes& decode,
                         const PrefillTimes& prefill, Trace& trace);

enum class Rounds { kSteady, kBenchmark };
// `concurrency` requests always in flight or waiting over all replicas: each one that ends is followed by the next.
// `slots`: sequences that one attention group can run.
ServingPerformance ClosedLoop(const Deployment& deployment, double concurrency, double slots, Rounds rounds,
                              Trace& trace);
// Requests arrive at random, `arrivals` per second over all replicas.
ServingPerformance OpenLoop(const Deployment& deployment, double arrivals, double slots, Trace& trace);
// Prefill and decode on separate pools, under any load. `requested_sequences`: per decode group where the load is a
// batch.
ServingPerformance TwoPools(const Deployment& deployment, double requested_sequences, double max_sequences,
                            Trace& trace);

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

// Sequences that an engine lets an attention group run, at most `max_slots` (the nearest figure of that name).
// `may_wait`: it need not run them all; `offered`: no more arrive. Where the KV cache beyond the device's budget comes
// over the host link, from some number on each more takes longer than it brings: then as many as serve the most.
double UsefulSlots(const Deployment& deployment, double max_slots, bool may_wait, std::optional<double> offered,
                   Trace& trace);

// Wait in an M/M/c queue over the service time (Sakasegawa 1977).
inline double WaitOverService(double load, double servers, Trace& trace) {
  FIGURE(trace, occupied, min(0.999, load),
         (Note{"Share of the servers that is occupied", "below 1: the queue would never end"}), load);
  FIGURE(trace, wait_over_service, pow(occupied, sqrt(2 * (servers + 1)) - 1) / (servers * (1 - occupied)),
         (Note{"Wait over the service time", "M/M/c queue", "Sakasegawa 1977"}), occupied, servers);
  return wait_over_service;
}

inline double AttentionGroups(const Deployment& deployment, Trace& trace) {
  const double replicas = deployment.mapping.replicas, attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, attention_groups, replicas * attention_dp, (Note{"Attention groups", "of all replicas"}), replicas,
         attention_dp);
  return attention_groups;
}

}  // namespace slipstick
