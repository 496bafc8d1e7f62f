// Prefill and decode on separate pools, from passes to requests.
#pragma once

#include "core/serving/load_model.h"

namespace slipstick {

// A pool that prefills a load's prompts; it may have another device and another mapping.
struct PrefillPool {
  Ratio groups;  // attention groups of all its replicas
  PrefillTimes times;
  Seconds send;     // of a prompt's KV cache: every rank its own part, over the links of this pool
  Bytes shortfall;  // memory that a device lacks for the weights and the KV cache of the prompts in flight
};
// `slots`: sequences of a decode group; `full`: its decode times with all slots occupied.
PrefillPool TimePrefillPool(const Deployment& deployment, Ratio slots, const DecodeTimes& full);

// Time that a prompt's KV cache takes on the links of a pool: each rank sends or receives its own part.
Seconds HandOverTime(const Deployment& pool);
// A transfer takes the slower side's time. The number per second is that of the pool whose links are busy first.
struct PoolLink {
  Seconds transfer;
  Hertz capacity;
};
PoolLink HandOverBetween(const Deployment& decoder, Ratio decode_groups, Seconds receive, const PrefillPool& prefill,
                         Seconds send);

// For every kind of load. `requested_sequences`: batch per decode group, if the load is a batch.
ServingPerformance TwoPools(const Deployment& deployment, Ratio requested_sequences, Ratio max_sequences);

}  // namespace slipstick
