// From passes to requests: performance under a closed loop or an open loop.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/engine_step/phases.h"

namespace slipstick {

inline constexpr std::string_view kClosedLoopSource =
    "mean-field scheduling; fitted to ai-dynamo/aiconfigurator silicon samples at 095f58a";

inline constexpr double kMostOccupied = 0.999;  // cap on a server's utilization; at 1 its queue would never end

// Rates and requests are totals over all replicas. Invariants: request rate x latency = in_flight + waiting (Little's
// law), and latency = ttft + (output - 1) x tpot.
struct ServingPerformance {
  Seconds ttft, tpot, latency;
  // Parts of ttft besides the own prefill: waiting for a slot or for a full pool; request handling and the step in
  // progress; prefills of others; with separate pools also the KV-cache transfer and the first decode step.
  Seconds queue, handling, prefills_before, transfer;
  TokensPerSecond rate;
  Ratio in_flight = 0, waiting = 0;
  Ratio running = 1;                        // sequences per attention group
  Ratio utilization = 0;                    // open loop: arrival rate over capacity
  bool saturated = false;                   // open loop: arrivals exceed capacity; the figures are those at capacity
  Bytes prefill_shortfall;                  // disaggregated: memory that a prefill device lacks
  Hertz prefill_capacity, decode_capacity;  // disaggregated: requests per second of each pool
  Hertz link_capacity;                      // and of the link between them
  DecodeTimes decode;
  PrefillTimes prefill;
};

// The cycle of a request from its slot to its last token, in an engine that prefills and decodes in turn.
struct RequestCycle {
  Seconds alone;         // time to first token if no other request were prefilled
  Seconds prefill_wait;  // waiting for the prefills of others before its own
  Seconds tpot;          // including others' prefills between steps
  Seconds time;
  Ratio others = 0;  // requests of the group that are each prefilled once during the cycle
  Seconds handling;  // part of alone: request handling and the step in progress
  Seconds grouped;   // part of alone: other prompts in the same pass
};
// The other requests of a group, from the viewpoint of one request.
struct Neighbors {
  Ratio others;       // prefilled once each during its cycle, without those that share its prefill
  Ratio found;        // running on its arrival
  Ratio prompts = 1;  // prompts in its own prefill pass, itself included
  Ratio ahead = 0;    // prompts in a pass for which it waits
};
// For a request that finds `found` requests running: decode steps that it waits for, and decode steps whose arrivals
// are prefilled together.
struct Residual {
  Ratio wait, gathered;
};
Residual ResidualSteps(const Deployment& deployment, Ratio found);
// Prefills of other requests, as they delay a request.
struct PrefillsMet {
  Seconds mean;   // of one prefill in a pass of its own
  Seconds found;  // of the one in progress on an arrival: longer ones are found more often
  Seconds paced;  // time that each adds to the steps, limited by the pace of the host
  PrefillStall stall;
};
PrefillsMet MeetsItsOwnKind(const PrefillTimes& prefill);
RequestCycle CycleOf(const Deployment& deployment, const Neighbors& neighbors, const DecodeTimes& decode,
                     const PrefillTimes& prefill, const PrefillsMet& met);
// Sets the parts of the time before the first token.
void SetPrefillsBefore(const RequestCycle& cycle, Seconds prefill_wait, ServingPerformance& performance);
// The cycle with `running` sequences, when each finished request is replaced at once.
RequestCycle SteadyCycle(const Deployment& deployment, Ratio running, const DecodeTimes& decode,
                         const PrefillTimes& prefill);

enum class Rounds { kSteady, kBenchmark };
// `concurrency` requests are always in flight or waiting over all replicas: each that ends is followed by the next.
// `slots`: sequences that one attention group can run.
// `turns`: rate of turns that other sessions send to a group, at random; if given, requests are turns of sessions.
ServingPerformance ClosedLoop(const Deployment& deployment, Ratio concurrency, Ratio slots, Rounds rounds,
                              std::optional<Hertz> turns = std::nullopt);
// Requests arrive at random, `arrivals` per second over all replicas.
ServingPerformance OpenLoop(const Deployment& deployment, Ratio arrivals, Ratio slots);

// Least fixed point n = inflow(n), at most `slots`; inflow(n): sequences that arrive during the stay of one when n run.
// It rises in steps, where GEMMs need another wave of tiles. As the number running fluctuates by about its square root,
// inflow is sampled at squares and interpolated linearly. The result then grows with the rate.
//
// `explained` is the inflow with nodes. It is called only where the result lies, and only if the slots have a node.
template <class Inflow, class Explained>
Ratio SettledSequences(Ratio slots, const Inflow& inflow, const Explained& explained) {
  const auto recorded = [&](double sequences, double flow) {
    return slots.node() != nullptr ? Ratio(explained(sequences)) : Ratio(flow);
  };
  double low = 1, flow_low = inflow(low);
  if (flow_low <= 1) return recorded(flow_low, inflow(flow_low));
  if (inflow(slots) >= slots) return slots;
  while (low < slots) {
    // The inflow at a value below the answer is at most the answer, so the search may jump there.
    const double root = std::max(std::floor(std::sqrt(low)) + 1, std::floor(std::sqrt(flow_low)));
    const double high = std::min(root * root, slots.base()), flow_high = inflow(high);
    if (!(flow_high >= high)) {
      const Ratio at_low = recorded(low, flow_low), at_high = recorded(high, flow_high);
      return low + (high - low) * (at_low - low) / ((high - low) - (at_high - at_low));
    }
    low = high, flow_low = flow_high;
  }
  return slots;
}
template <class Inflow>
double SettledSequences(double slots, const Inflow& inflow) {
  return SettledSequences(Ratio(slots), inflow, inflow);
}

// Number of sequences that an engine lets an attention group run, at most `max_slots`; `offered`: no more arrive. If KV
// cache streams in over the host link, more sequences can lower the throughput; if requests may wait (`may_wait`), this
// is then the number with the highest throughput.
Ratio UsefulSlots(const Deployment& deployment, Ratio max_slots, bool may_wait, std::optional<Ratio> offered);

// The part of `slots` that prompts can fill. Each step decodes all running sequences and prefills at most `prompts`, so
// no more run than arrive during the `steps` of a request, unless the engine prefills first.
Ratio FilledSlots(const Deployment& deployment, Ratio slots, Ratio prompts, Ratio steps);

// Mean wait in a queue of random arrivals, relative to the service time: that of an M/M/c queue (Sakasegawa 1977) times
// (1 + variation) / 2, where `variation` is the squared coefficient of variation of the service times (Allen and
// Cunneen: Allen, Probability, Statistics, and Queueing Theory, 1990). Requests of one length: 0, half of the wait.
Ratio WaitOverService(Ratio load, Ratio servers, Ratio variation);

// Attention groups of all replicas.
Ratio AttentionGroups(const Deployment& deployment);

}  // namespace slipstick
