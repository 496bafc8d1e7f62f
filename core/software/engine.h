// A serving engine as numbers: costs a step, a layer and a sequence, kernels, the memory budget rule. Presets: core/presets/engines/.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/software/custom_all_reduce.h"
#include "core/software/expert_exchange.h"

namespace slipstick {

// How an engine's step is put together.
enum class Composition {
  kKernels,     // kernel by kernel: matrix products, attention, element-wise passes, all-reduces, gaps
  kWholeLayer,  // a compiled graph: a layer is one operator with a fixed cost
  kLayerSplit   // llama.cpp: one stream, layers split over the devices, many small dependent kernels
};
template <>
struct EnumNames<Composition> {
  static constexpr std::array<std::pair<Composition, std::string_view>, 3> names{
      {{Composition::kKernels, "kernels"}, {Composition::kWholeLayer, "whole_layer"}, {Composition::kLayerSplit, "layer_split"}}};
};

// Whose attention kernels run.
enum class AttentionLibrary {
  kGeneric,     // split-KV kernels as any current engine has them
  kTrtllm,      // TensorRT-LLM: XQA on Hopper and before, its own kernels on Blackwell
  kFlashInfer,  // FlashAttention-3 on Hopper, FlashInfer on Blackwell (vLLM, SGLang)
  kUnfused      // prefill by matrix products and a softmax (FasterTransformer)
};
template <>
struct EnumNames<AttentionLibrary> {
  static constexpr std::array<std::pair<AttentionLibrary, std::string_view>, 4> names{{{AttentionLibrary::kGeneric, "generic"},
                                                                                       {AttentionLibrary::kTrtllm, "trtllm"},
                                                                                       {AttentionLibrary::kFlashInfer, "flashinfer"},
                                                                                       {AttentionLibrary::kUnfused, "unfused"}}};
};

// Whose kernels run a layer of experts.
enum class ExpertLibrary {
  kTrtllm,     // TensorRT-LLM: grouped CUTLASS products
  kFlashInfer  // Triton on Hopper and before, FlashInfer's generated kernels on Blackwell (vLLM, SGLang)
};
template <>
struct EnumNames<ExpertLibrary> {
  static constexpr std::array<std::pair<ExpertLibrary, std::string_view>, 2> names{
      {{ExpertLibrary::kTrtllm, "trtllm"}, {ExpertLibrary::kFlashInfer, "flashinfer"}}};
};

// What the cache gets of the memory.
enum class BudgetRule {
  kShareOfDevice,  // share of what the device offers, less weights, activations and the reserve (vLLM: gpu_memory_utilization)
  kShareOfFree     // share of what weights, activations and the reserve leave (TensorRT-LLM: free_gpu_memory_fraction)
};
template <>
struct EnumNames<BudgetRule> {
  static constexpr std::array<std::pair<BudgetRule, std::string_view>, 2> names{
      {{BudgetRule::kShareOfDevice, "share_of_device"}, {BudgetRule::kShareOfFree, "share_of_free"}}};
};

struct MemoryBudget {
  BudgetRule rule = BudgetRule::kShareOfDevice;
  double share = 1;
  Bytes reserve = 0 * kGB;           // context, communication buffers, graphs, whatever the model does not count
  Bytes reserve_parallel = 0 * kGB;  // more of it where tp > 1
  double output_reserved = 1;        // of a request's output, when it is admitted: 1 never evicts
  Count block = 1;                   // tokens a page of the cache holds
  Count activation_tokens = 0;       // that activations are sized for; 0: they are in the reserve
  Count logit_sequences = 0;         // whose logits, gathered and in fp32, are held at once
};
template <>
struct Schema<MemoryBudget> {
  static const Fields fields;
};

// Constants of a compiled engine whose layer is one operator.
struct WholeLayer {
  double matrix = 0.6;          // share of the dense peak
  double stream = 0.85;         // share of the memory bandwidth while weights stream
  double cache_stream = 0.75;   // the same for the cache
  double element_stream = 0.3;  // the same for activations between the matrix products
  Seconds layer = 67 * kUs;     // fixed cost of a layer
  Seconds reduce = 75 * kUs;    // fixed cost of an all-reduce
  double reduce_stream = 0.7;   // share of the link's bandwidth
  bool causal = true;           // attention skips what the mask hides
  bool fixed_shapes = false;    // compiled for one length of the cache: every step reads it whole
  double score_passes = 0;      // times a score goes to memory and back, 4 bytes each
  Count cores = 1;              // tensor parallel ranks a device
  Bytes on_chip = 0 * kMiB;     // activations beyond this spill; 0: no such limit
  double spill = 1;             // power of activations over that limit with which a prefill then grows
};
template <>
struct Schema<WholeLayer> {
  static const Fields fields;
};

// Constants of an engine with one stream and layers split over the devices (llama.cpp).
struct LayerSplit {
  double stream = 0.93;              // share of the memory bandwidth that a matrix-vector product reaches
  double bytes_per_clock = 6.8;      // that a unit takes in, at most
  double clocks_per_layer = 185000;  // of dependent small kernels
  double cache_stream = 1.3;         // rate of the cache over the memory bandwidth, for every query head on its own
  double cache_stream_large = 1.5;   // the same where the last cache is large
  double matrix = 0.57;              // share of the dense peak in prefill
  bool fp16_accumulate = true;       // products keep their sums in fp16, at that rate where a device has one
  double attention = 0.34;           // the same for attention
  double activation_passes = 45;     // times an activation goes to memory and back in a layer of prefill
  double dequantised_bytes = 3.8;    // that a quantised weight takes in memory traffic a micro-batch
  double score_bytes = 11.5;         // of memory traffic a score
  double score_bytes_large = 7;      // the same where the last cache is large
  Bytes large_cache = 40 * kMB;
  Count micro_batch = 512;
  Seconds hop = 180 * kUs;          // to the next device, decode
  Seconds prefill_hop = 500 * kUs;  // the same with a single micro-batch of prefill
  double pipeline = 0.87;           // share of the ideal gain of micro-batches in flight
  double kernels_per_layer = 52;    // that the host launches in a layer of prefill
  double kernels_per_quantised_layer = 62;
  double launch_queue = 1024;  // kernels that may wait on a device before the host must wait
  Count in_flight = 4;         // micro-batches at once, at most
};
template <>
struct Schema<LayerSplit> {
  static const Fields fields;
};

// What differs on one family of devices.
struct EngineOn {
  Architecture architecture;
  std::optional<bool> graphs;
  std::optional<double> expert_matrix, expert_stream;
};
template <>
struct Schema<EngineOn> {
  static const Fields fields;
};

struct Engine {
  std::string preset = "vllm";
  std::string name = "vLLM";
  Composition composition = Composition::kKernels;
  // A step.
  bool graphs = true;                 // decode steps are launched as one graph
  Seconds launch_gap = 3.5 * kUs;     // between dependent kernels that are launched one by one
  Seconds prefill_gap = 0 * kUs;      // the same in a prefill
  double element_kernels = 4;         // norms, activation, residual of a layer
  double element_stream = 0.6;        // share of the memory bandwidth of those kernels
  double element_bytes = 0;           // further bytes a row and hidden element, split over tp (bias and transpose passes)
  Seconds step = 400 * kUs;           // scheduler, sampling, token copy: what the GPU waits for
  Seconds sequence = 6 * kUs;         // the same a sequence
  Seconds prefill_step = 2000 * kUs;  // of a step that holds prefill
  Seconds prefill_host = 0 * kUs;     // of the host, a step that holds prefill, beside the devices: they cannot be faster
  Seconds prefill_launch = 0 * kUs;   // the same, an operation of a prefill that no graph holds
  Seconds host_sequence = 0 * kUs;    // of the host, a sequence and step, beside the devices: they cannot be faster
  Seconds request = 15000 * kUs;      // handling of a request before its first token
  double steps_ahead = 0;             // launched already when a request arrives, besides the one that runs
  Count prefill_tokens = 8192;        // of a step, at most
  bool groups_prefills = false;       // requests admitted together share a prefill and wait for each other
  bool queues_static_batch = false;   // of a static batch only as many run as fit, the others wait
  Count max_sequences = 2048;         // at once
  // Kernels.
  AttentionLibrary attention = AttentionLibrary::kGeneric;
  bool fp8_attention = false;  // an fp8 cache makes attention of a prefill compute in fp8
  Count multi_query_from = 1;  // heads/kv_heads from which one kernel serves them together; below, each reads the cache
  ExpertLibrary expert_library = ExpertLibrary::kTrtllm;
  Seconds experts = 22 * kUs;  // fixed cost of a layer of experts
  double expert_matrix = 1;    // rate of the expert products over the best kernels'
  double expert_stream = 0.9;  // the same while their weights stream
  bool pads_heads = false;
  // All-reduce.
  std::vector<CustomAllReduce> all_reduce;  // the engine's own kernels, where peers reach each other; none: the library's
  Seconds rank_skew = 2 * kUs;              // that the engine's own all-reduce waits for the last rank
  Seconds nccl_launch = 0 * kUs;            // host launch of the library's without graphs, a doubling of the ranks, in a decode step
  // Tokens to their experts and back.
  std::vector<ExchangeKernels> expert_exchange;  // the engine's own kernels, the first row that fits; none: collectives
  bool two_batch_overlap = false;                // with those kernels: one half of the batch computes while the other's tokens travel
  MemoryBudget memory;
  std::optional<WholeLayer> whole_layer;
  std::optional<LayerSplit> layer_split;
  std::vector<EngineOn> on;
};
template <>
struct Schema<Engine> {
  static constexpr std::string_view preset_kind = "engine";
  static const Fields fields;
};

}  // namespace slipstick
