// Prefill and decode on separate pools, from passes to requests.
#pragma once

#include "core/serving/load_model.h"

namespace slipstick {

// A pool that prefills a load's prompts; it may have another device and another mapping.
struct PrefillPool {
  Ratio groups;  // attention groups of all its replicas
  PrefillTimes times;
  Bytes shortfall;  // memory that a device lacks for the weights and the KV cache of the prompts in flight
};
// `slots`: sequences of a decode group; `full`: its decode times with all slots occupied.
PrefillPool TimePrefillPool(const Deployment& deployment, Ratio slots, const DecodeTimes& full);

// Time to transfer a KV cache to the decode pool. Every rank sends its own part.
Seconds HandOverTime(Bytes kv_cache, const Deployment& deployment);
// Requests whose KV cache, which takes `transfer`, the links between the pools carry.
Hertz LinkCapacity(const Deployment& deployment, Ratio prefill_groups, Ratio decode_groups, Seconds transfer);

// For every kind of load. `requested_sequences`: batch per decode group, if the load is a batch.
ServingPerformance TwoPools(const Deployment& deployment, Ratio requested_sequences, Ratio max_sequences);

}  // namespace slipstick
