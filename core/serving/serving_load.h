// What is served: prompt and output lengths, how many at once, number formats, engine.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"
#include "core/hardware/device.h"
#include "core/mapping/parallelism.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

struct ServingPrecision {
  Precision weights = Precision::kBf16;
  Precision activations = Precision::kBf16;
  Precision kv_cache = Precision::kBf16;
  Precision state = Precision::kFp32;  // of layers with a recurrence
  friend bool operator==(const ServingPrecision&, const ServingPrecision&) = default;
};
template <>
struct Schema<ServingPrecision> {
  static const Fields fields;
};

// Prefill and decode on pools of their own.
struct Disaggregated {
  Count prefill_devices = 8;
  Count decode_devices = 8;
  std::optional<Device> prefill_device;           // of the prefill pool; default: the cluster's
  std::optional<ServingMapping> prefill_mapping;  // of the prefill pool; default: the load's
};
template <>
struct Schema<Disaggregated> {
  static const Fields fields;
};

struct Speculative {
  Count draft_tokens = 3;
  double acceptance = 0.7;  // probability that a drafted token is kept
  double draft_cost = 0.1;  // of one drafted token, over a decode step
};
template <>
struct Schema<Speculative> {
  static const Fields fields;
};

// Cache beyond the devices' memory, kept in the host's and brought in layer by layer while a step runs.
struct KvOffload {
  Bytes capacity = 256 * kGB;             // of host memory, a device
  BytesPerSecond bandwidth = 63 * kGBps;  // of the link to the host, a device and direction
};
template <>
struct Schema<KvOffload> {
  static const Fields fields;
};

struct ServingLoad {
  Count prompt = 2048;
  Count output = 256;
  CountOrMax batch{false, 1};            // sequences of one replica
  std::optional<Count> devices;          // default: the cluster's
  std::optional<Count> concurrency;      // closed loop: requests always in flight
  std::optional<double> requests_per_s;  // open loop
  std::optional<Count> max_requests;     // the engine runs no more at once
  std::optional<Count> waves;            // requests each stream sends in a benchmark whose streams start together
  Engine engine;
  std::optional<bool> cuda_graphs;  // default: the engine's
  ServingPrecision precision;
  ServingMapping mapping;
  Count redundant_experts = 0;         // copies of busy experts, in all
  std::optional<Count> prefill_chunk;  // tokens of prefill a step takes
  double prefix_hit = 0;               // share of the prompt found in the cache
  std::optional<Speculative> speculative;
  std::optional<Disaggregated> disaggregated;
  std::optional<KvOffload> kv_offload;
};
template <>
struct Schema<ServingLoad> {
  static const Fields fields;
};

}  // namespace slipstick
