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
  static constexpr auto fields =
      std::tuple{Of("weights", &ServingPrecision::weights, "Format of the weights in memory"),
                 Of("activations", &ServingPrecision::activations, "Format of the matrix products' inputs"),
                 Of("kv_cache", &ServingPrecision::kv_cache, "Format of the cached keys and values"),
                 Of("state", &ServingPrecision::state, "Format of the state of layers with a recurrence").Advanced()};
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
  static constexpr auto fields = std::tuple{
      Of("prefill_devices", &Disaggregated::prefill_devices, "Devices that prefill only").Between(1, 1 << 24),
      Of("decode_devices", &Disaggregated::decode_devices, "Devices that decode only").Between(1, 1 << 24),
      Of("prefill_device", &Disaggregated::prefill_device,
         "The prefill pool's accelerator; default the cluster's. Cost and energy count it as the cluster's, and it neither trains nor "
         "decodes: no figure uses its host, idle, die, fp16_accumulate, sustained_fall, rated_power, attention_forward, "
         "attention_backward, decode_stream, "
         "nor the link and network of its design")
          .Advanced(),
      Of("prefill_mapping", &Disaggregated::prefill_mapping,
         "How the prefill pool spreads the model; default as the decode pool. It decodes nothing: no figure uses its cp")
          .Advanced()};
};

struct Speculative {
  Count draft_tokens = 3;
  double acceptance = 0.7;  // probability that a drafted token is kept
  double draft_cost = 0.1;  // of one drafted token, over a decode step
};
template <>
struct Schema<Speculative> {
  static constexpr auto fields =
      std::tuple{Of("draft_tokens", &Speculative::draft_tokens, "Tokens drafted a step").Between(1, 64),
                 Of("acceptance", &Speculative::acceptance, "Probability that a drafted token is kept").Between(0, 1),
                 Of("draft_cost", &Speculative::draft_cost, "Time of one drafted token over a decode step").Between(0, 10)};
};

// Cache beyond the devices' memory, kept in the host's and brought in layer by layer while a step runs.
struct KvOffload {
  Bytes capacity = 256 * kGB;             // of host memory, a device
  BytesPerSecond bandwidth = 63 * kGBps;  // of the link to the host, a device and direction
};
template <>
struct Schema<KvOffload> {
  static constexpr auto fields =
      std::tuple{Of("capacity", &KvOffload::capacity, "Host memory for the cache, a device").In(kGB).AtLeast(0),
                 Of("bandwidth", &KvOffload::bandwidth, "Link to the host, one direction, a device").In(kGBps).Above(0).AtMost(1e6)};
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
  static constexpr auto fields = std::tuple{
      Of("prompt", &ServingLoad::prompt, "Tokens in").Length().Between(1, 1 << 28),
      Of("output", &ServingLoad::output, "Tokens out").Length().Between(1, 1 << 28),
      Of("batch", &ServingLoad::batch, "Sequences that one replica runs together, or max: as many as fit").Between(1, 1 << 24),
      Of("devices", &ServingLoad::devices, "Devices used; default all of the cluster").Between(1, 1 << 24).Derived(),
      Of("concurrency", &ServingLoad::concurrency, "Closed loop: requests always in flight").Between(1, 1 << 24).Advanced(),
      Of("requests_per_s", &ServingLoad::requests_per_s, "Open loop: requests that arrive a second").Above(0).AtMost(1e9).Advanced(),
      Of("max_requests", &ServingLoad::max_requests, "The engine runs no more at once; null: memory decides")
          .Between(1, 1 << 24)
          .Advanced(),
      Of("waves", &ServingLoad::waves, "Requests that each stream sends in a benchmark whose streams start together; null: steady state")
          .Between(1, 1 << 24)
          .Advanced(),
      Of("engine", &ServingLoad::engine, "Costs a step and a layer, kernels, memory rule"),
      Of("cuda_graphs", &ServingLoad::cuda_graphs, "Kernels launched as a graph; default the engine's").Advanced(),
      Of("precision", &ServingLoad::precision, "Number formats"),
      Of("mapping", &ServingLoad::mapping, "How the model is spread"),
      Of("redundant_experts", &ServingLoad::redundant_experts,
         "Copies of busy experts (EPLB), beside the model's: ep divides both together")
          .Between(0, 1 << 16)
          .Advanced(),
      Of("prefill_chunk", &ServingLoad::prefill_chunk, "Tokens of prefill that a step takes; default the engine's")
          .Length()
          .Between(1, 1 << 28)
          .Advanced(),
      Of("prefix_hit", &ServingLoad::prefix_hit, "Share of the prompt found in the cache").Between(0, 1).Advanced(),
      Of("speculative", &ServingLoad::speculative, "Draft tokens checked together").Advanced(),
      Of("disaggregated", &ServingLoad::disaggregated, "Prefill and decode on pools of their own").Advanced(),
      Of("kv_offload", &ServingLoad::kv_offload, "Cache beyond the devices' memory, in the host's").Advanced()};
};

}  // namespace slipstick
