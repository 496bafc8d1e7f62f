// The serving load: prompt and output lengths, concurrency or arrivals, number formats, engine, mapping.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/engine_step/request_stream.h"
#include "core/engine_step/sessions.h"
#include "core/hardware/device.h"
#include "core/hardware/network.h"
#include "core/mapping/parallelism.h"
#include "core/software/engine.h"
#include "core/software/tuning.h"
#include "core/workload/precision.h"

namespace slipstick {

struct ServingPrecision {
  Precision weights = Precision::kBf16;
  Precision activations = Precision::kBf16;
  Precision kv_cache = Precision::kBf16;
  Precision state = Precision::kFp32;  // of recurrent layers
  friend bool operator==(const ServingPrecision&, const ServingPrecision&) = default;
};
FIELDS_OF(ServingPrecision);

// Prefill and decode on separate pools of devices.
struct Disaggregated {
  Tally prefill_devices = 8;
  Tally decode_devices = 8;
  std::optional<Device> prefill_device;           // default: that of the cluster
  std::optional<ServingMapping> prefill_mapping;  // default: that of the load
  // Not an input: the networks of the catalogue's server of prefill_device. Empty: the pool is joined by the cluster's.
  std::vector<NetworkLevel> prefill_networks;
};
FIELDS_OF(Disaggregated);

struct Speculative {
  std::string preset;
  std::string name = "custom";
  Tally draft_tokens = 1;
  Ratio acceptance = 0;        // probability that a draft token is accepted
  Ratio draft_cost = 0;        // relative to the time of a decode step, per draft token
  Tally modules = 0;           // MTP modules of the model that draft tokens
  Ratio draft_parameters = 0;  // of a separate draft model or head
  Ratio draft_kv_cache = 0;    // elements cached per token by the draft model
};
template <>
struct Schema<Speculative> {
  static constexpr std::string_view preset_kind = "speculation";
  static constexpr std::string_view standard = "speculative";
  static const Fields fields;
};

// A language model that writes a block of tokens at once: every step computes the whole block and keeps the tokens with
// high confidence (LLaDA 2, SDAR, DiffusionGemma).
struct BlockDiffusion {
  Tally block = 1;            // tokens
  Ratio tokens_per_step = 1;  // tokens that a step keeps, mean over all steps of a block
};
template <>
struct Schema<BlockDiffusion> {
  static constexpr std::string_view standard = "block_diffusion";
  static const Fields fields;
};

// Images in every prompt. A vision encoder (Model::vision) turns them into prompt tokens.
struct PromptImages {
  Tally count = 1;
  Tally width = 1024, height = 1024;  // pixels, as the processor resizes them
};
FIELDS_OF(PromptImages);

// KV cache that exceeds device memory: it stays in host memory and is streamed in layer by layer during a step.
struct KvOffload {
  Bytes capacity = 256 * kGB;             // host memory per device
  BytesPerSecond bandwidth = 63 * kGBps;  // host link per device, one direction
};
FIELDS_OF(KvOffload);

// Routed experts that stay in host memory; attention, KV cache, router and shared experts are in device memory.
struct HostExperts {
  Tally layers = 1 << 10;  // layers that keep their experts there; at most all layers with experts
  BytesPerSecond memory_bandwidth = 96 * kGBps;  // of the host memory
  FlopsPerSecond processor = 1 * kTFlops;  // eight cores of Zen 4 (Ryzen 7 7700): 8 x 3.8 GHz x 32 fp32 FLOP per clock
};
FIELDS_OF(HostExperts);

// Where the tokens that hit the prefix cache are stored: in device memory, or in host memory or on SSD, from where a
// request loads them once, before or during its prefill.
struct PrefixCache {
  Ratio host_share = 0, ssd_share = 0;    // shares of the hits; the rest is in device memory
  Tally prefixes = 0;                     // prefixes that an attention group keeps beside those of its running requests
  bool by_layer = true;                   // a layer is computed while the next is loaded; false: all are loaded first
  BytesPerSecond host_link = 63 * kGBps;  // per device, one direction
  BytesPerSecond ssd_bandwidth = 6 * kGBps;  // reads, per device
  Bytes host_capacity = 256 * kGB;           // per device
  Bytes ssd_capacity = 3840 * kGB;           // per device
};
FIELDS_OF(PrefixCache);

// Low-rank adapters beside the projections of attention and of dense MLPs, one per request (multi-LoRA).
struct ServedAdapters {
  Tally resident = 8;  // in device memory
  Tally active = 8;    // adapters that the running sequences use
  Tally rank = 16;
};
FIELDS_OF(ServedAdapters);

struct ServingLoad {
  Tally prompt = 2048;
  Tally output = 256;
  CountOrMax batch{false, 1};           // concurrent requests per replica
  std::optional<Tally> devices;         // default: all of the cluster
  std::optional<Tally> concurrency;     // closed loop: constant number of requests in the system
  std::optional<Ratio> requests_per_s;  // open loop: arrival rate
  std::optional<Tally> max_requests;    // limit of concurrent requests in the engine
  std::optional<Tally> waves;           // benchmark rounds: requests per stream, all streams starting together
  Engine engine;
  Tuning tuning;
  std::optional<bool> cuda_graphs;  // default: as the engine
  ServingPrecision precision;
  ServingMapping mapping;
  Tally redundant_experts = 0;         // total copies of busy experts (EPLB)
  std::optional<Tally> prefill_chunk;  // prefill tokens per step
  Ratio prefix_hit = 0;                // prefix-cache hit rate: fraction of the prompt tokens
  std::optional<Ratio> idle_sessions;  // per running request, each with its cached prefix; absent: 0
  std::optional<PromptImages> images;
  std::optional<Sessions> sessions;  // set the prompt and the hit rate; each request of the load is a turn
  std::optional<Speculative> speculative;
  std::optional<BlockDiffusion> block_diffusion;
  std::optional<Disaggregated> disaggregated;
  std::optional<KvOffload> kv_offload;
  std::optional<HostExperts> host_experts;
  std::optional<PrefixCache> prefix_cache;
  std::optional<ServedAdapters> adapters;
  std::optional<SimulationRun> simulate;
  std::optional<Arrivals> arrivals;       // of the simulation; default: Poisson
  std::optional<RequestLengths> lengths;  // default: every request as long as `prompt` and `output`
  // Not an input: set for questions about mixed traffic. Several classes in an open loop, ascending by length, whose
  // weights sum to 1; `prompt` and `output` are then their means. Empty: all requests are alike.
  std::vector<RequestClass> mixture;
};
FIELDS_OF(ServingLoad);

// The pools of a load whose prefill pool uses another device than the cluster; null if all devices are of one kind.
inline const Disaggregated* PoolsOfTwoKinds(const ServingLoad& load) {
  return load.disaggregated && load.disaggregated->prefill_device ? &*load.disaggregated : nullptr;
}

}  // namespace slipstick
