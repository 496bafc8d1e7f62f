// From steps to requests: what a user waits for and what an engine gives, closed loop, open loop, saturated, static.
#pragma once

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

// What a load answers. Rates are of all replicas.
struct Flow {
  Seconds ttft, tpot, latency;
  TokensPerSecond rate;
  double running = 1;      // sequences of one attention group
  double utilisation = 0;  // of the rate at saturation, in an open loop
  bool saturated = false;
  Bytes prefill_lack;  // of memory on a prefill pool's device, for the weights
  DecodeTimes decode;
  PrefillTimes prefill;
};

// `concurrency` requests always in flight, over all replicas. `most`: sequences that one attention group can hold.
Flow ClosedLoop(const Deployment& d, double concurrency, double most, Trace& trace);
// `sequences` of each attention group always running: the next request is there as soon as one ends.
Flow Saturated(const Deployment& d, double sequences, Trace& trace);
// Requests that arrive at random, `arrivals` a second over all replicas.
Flow OpenLoop(const Deployment& d, double arrivals, double most, Trace& trace);
// Prefill and decode on pools of their own, `concurrency` requests in flight.
Flow TwoPools(const Deployment& d, double concurrency, double most, Trace& trace);

// A batch that starts together: one prefill of all of it, then `output` steps.
Seconds StaticLatency(const Deployment& d, double sequences, const CacheBudget& budget, Trace& trace);

}  // namespace slipstick
