// The figures of a served load.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/quantity.h"
#include "core/collectives/collective.h"
#include "core/engine_step/request_stream.h"
#include "core/operators/time_by_bound.h"
#include "core/serving/latency_parts.h"

namespace slipstick {

struct ServingMemory {
  Bytes weights, kv_cache, activations, workspace;
  Bytes capacity;
  [[nodiscard]] Bytes Total() const { return weights + kv_cache + activations + workspace; }
  [[nodiscard]] Bytes Free() const { return capacity - Total(); }
};
struct OffloadedCache {
  Bytes bytes;  // KV cache in host memory
  Seconds transfer, exposed;
};
// Tiers of the prefix cache: load time of a prompt's prefix; prefixes per device kept beside those of running requests.
struct ServedPrefixes {
  Seconds load, exposed;
  Bytes device, host, ssd;
};
// The images of a prompt.
struct EncodedImages {
  Ratio tokens = 0;
  Seconds time;  // of the vision encoder
};
// Hit rates are shares of the prompt tokens. Figures are for all replicas, except bytes, which are per device.
struct CacheSize {
  Bytes memory;  // for idle contexts, in all tiers
  Ratio hit_rate;
};
struct ServedSessions {
  Hertz per_s;                                                                  // sessions that end
  Ratio waiting = 0;                                                            // sessions between two turns
  Ratio hit_rate, device_hit_rate, host_hit_rate, ssd_hit_rate, best_hit_rate;  // best: if no context were evicted
  Seconds reentry_ttft;                                                         // of turns after the first
  Seconds stay;                                                                 // of an idle context on the device
  Bytes room, needed;            // device memory left for idle contexts; contexts of the sessions that wait
  std::vector<CacheSize> sizes;  // hit rates with more memory
  Tokens output;                 // tokens that a session generates
};
struct ServedOperator {
  std::string name;
  Flops flops;
  Bytes bytes;
  std::vector<Bytes> level_bytes;   // caches from the innermost, then memory
  std::vector<Seconds> level_time;  // time for those bytes at the stated bandwidths; 0: not stated
  Seconds time;
  Bound bound = Bound::kCompute;
  double count = 1;  // runs per pass
  Work work = Work::kGemm;
};

template <class T>
struct ByPass {
  T prefill, decode;
};

// Use of one of two pools, per output token of the deployment.
struct PoolUse {
  SecondsPerToken device_seconds;
  JoulesPerToken energy;  // of its devices
};

// A class of requests in mixed traffic; all replicas.
struct ServedClass {
  RequestClass of;  // its weight is its share of the requests
  Seconds ttft, tpot, latency;
  double in_flight = 0, waiting = 0;
  // Share of the engines' time, or of each pool's own time: its prefills, and its part of the decode steps, by
  // sequence.
  ByPass<double> device_time{0, 0};
};

struct ServingReport {
  Seconds ttft, tpot, request_latency, prefill, decode_step;
  Seconds static_ttft, static_tpot, static_latency;  // a batch whose requests start together
  TokensPerSecond tokens_per_s, tokens_per_s_per_device, tokens_per_s_per_user;
  Ratio requests_per_s = 0;
  Ratio requests_in_flight = 0, requests_waiting = 0;  // all replicas
  Ratio utilization = 0;                               // open loop: arrival rate over capacity
  Count batch = 1;                                     // running sequences per replica
  BytesPerToken kv_cache_per_token;
  Bytes kv_cache;
  Bytes state_per_sequence;  // of recurrent layers
  OffloadedCache kv_offload;
  Bytes host_weights;  // weights of experts in host memory, per replica
  ServedPrefixes prefix_cache;
  EncodedImages images;
  std::optional<ServedSessions> sessions;
  std::vector<ServedClass> classes;  // of a mixed traffic
  Tally max_batch = 0, max_context = 0;
  Tally default_sequences = 0;  // running per attention group under the engine's plain command; 0: it states none
  ServingMemory memory;
  ByPass<Bound> bound{Bound::kCompute, Bound::kMemory};
  std::optional<ByPass<PoolUse>> pools;      // of disaggregated serving
  SecondsPerToken device_seconds_per_token;  // of all devices; times the price per device-second: cost per token
  JoulesPerToken energy_per_token;
  ByPass<std::vector<ServedOperator>> operators;
  LatencyParts latency_parts;                              // empty in a search
  ByPass<TimeByBound> time_by_bound;                       // of `prefill` and `decode_step`; empty in a search
  ByPass<std::vector<NetworkLevelTime>> network_by_level;  // of their network parts
  CollectiveLog collectives;
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> warnings;
  std::vector<std::string> assumed;  // paths of inputs in use that were assumed, not measured
};

}  // namespace slipstick
