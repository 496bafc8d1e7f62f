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
  static constexpr auto fields = std::tuple{
      Of("rule", &MemoryBudget::rule, "What the cache gets of the memory"),
      Of("share", &MemoryBudget::share, "Share that the rule takes").Above(0).AtMost(1),
      Of("reserve", &MemoryBudget::reserve, "Context, buffers and graphs").In(kGB).AtLeast(0),
      Of("reserve_parallel", &MemoryBudget::reserve_parallel, "More of it where tensor parallelism is above 1").In(kGB).AtLeast(0),
      Of("output_reserved", &MemoryBudget::output_reserved, "Share of a request's output that is reserved when it is admitted")
          .Between(0, 1),
      Of("block", &MemoryBudget::block, "Tokens that a page of the cache holds").Between(1, 65536),
      Of("activation_tokens", &MemoryBudget::activation_tokens, "Tokens that activations are sized for; 0: they are in the reserve")
          .Length()
          .Between(0, 1 << 24),
      Of("logit_sequences", &MemoryBudget::logit_sequences, "Sequences whose logits, gathered and in fp32, are held at once")
          .Between(0, 1 << 20)};
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
  static constexpr auto fields = std::tuple{
      Of("matrix", &WholeLayer::matrix, "Share of the dense peak").Above(0).AtMost(1),
      Of("stream", &WholeLayer::stream, "Share of the memory bandwidth that weights stream at").Above(0).AtMost(1),
      Of("cache_stream", &WholeLayer::cache_stream, "Share of the memory bandwidth that the cache streams at").Above(0).AtMost(1),
      Of("element_stream", &WholeLayer::element_stream, "Share of the memory bandwidth for activations").Above(0).AtMost(1),
      Of("layer", &WholeLayer::layer, "Fixed cost of a layer").In(kUs).Between(0, 1e6),
      Of("reduce", &WholeLayer::reduce, "Fixed cost of an all-reduce").In(kUs).Between(0, 1e6),
      Of("reduce_stream", &WholeLayer::reduce_stream, "Share of the link's bandwidth in an all-reduce").Above(0).AtMost(1),
      Of("causal", &WholeLayer::causal, "Attention skips what the mask hides"),
      Of("fixed_shapes", &WholeLayer::fixed_shapes, "Compiled for one length of the cache, which every step reads whole"),
      Of("score_passes", &WholeLayer::score_passes, "Times a score goes to memory and back").Between(0, 16),
      Of("cores", &WholeLayer::cores, "Tensor parallel ranks a device").Between(1, 64),
      Of("on_chip", &WholeLayer::on_chip, "Activations beyond this spill; 0: no such limit").In(kMB).AtLeast(0),
      Of("spill", &WholeLayer::spill, "Power of activations over the limit with which a prefill then grows").Between(0, 1)};
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
  static constexpr auto fields = std::tuple{
      Of("stream", &LayerSplit::stream, "Share of the memory bandwidth of a matrix-vector product").Above(0).AtMost(1),
      Of("bytes_per_clock", &LayerSplit::bytes_per_clock, "Bytes a unit takes in a clock, at most").Above(0).AtMost(1024),
      Of("clocks_per_layer", &LayerSplit::clocks_per_layer, "Clocks of dependent small kernels in a layer").Between(0, 1e9),
      Of("cache_stream", &LayerSplit::cache_stream, "Rate of the KV cache over the memory bandwidth").Above(0).AtMost(16),
      Of("cache_stream_large", &LayerSplit::cache_stream_large, "The same where the last cache is large").Above(0).AtMost(16),
      Of("matrix", &LayerSplit::matrix, "Share of the dense peak in prefill").Above(0).AtMost(1),
      Of("fp16_accumulate", &LayerSplit::fp16_accumulate, "Products keep their sums in fp16, at that rate where a device has one"),
      Of("attention", &LayerSplit::attention, "Share of the dense peak in prefill attention").Above(0).AtMost(1),
      Of("activation_passes", &LayerSplit::activation_passes, "Passes over activations in a layer of prefill").Between(0, 1000),
      Of("dequantised_bytes", &LayerSplit::dequantised_bytes, "Memory traffic of a quantised weight a micro-batch").Between(0, 64),
      Of("score_bytes", &LayerSplit::score_bytes, "Memory traffic of a score").Between(0, 1000),
      Of("score_bytes_large", &LayerSplit::score_bytes_large, "The same where the last cache is large").Between(0, 1000),
      Of("large_cache", &LayerSplit::large_cache, "From this size the last cache is large").In(kMB).AtLeast(0),
      Of("micro_batch", &LayerSplit::micro_batch, "Tokens of prefill at once").Between(1, 1 << 20),
      Of("hop", &LayerSplit::hop, "To the next device, in decode").In(kUs).Between(0, 1e6),
      Of("prefill_hop", &LayerSplit::prefill_hop, "To the next device, in prefill").In(kUs).Between(0, 1e6),
      Of("pipeline", &LayerSplit::pipeline, "Share of the ideal gain of micro-batches in flight").Above(0).AtMost(1),
      Of("kernels_per_layer", &LayerSplit::kernels_per_layer, "Launches in a layer of prefill").Between(0, 1e6),
      Of("kernels_per_quantised_layer", &LayerSplit::kernels_per_quantised_layer, "The same where weights are quantised").Between(0, 1e6),
      Of("launch_queue", &LayerSplit::launch_queue, "Kernels that may wait on a device before the host must wait").Above(0).AtMost(1e9),
      Of("in_flight", &LayerSplit::in_flight, "Micro-batches in flight at most").Between(1, 64)};
};

// What differs on one family of devices.
struct EngineOn {
  Architecture architecture = Architecture::kGeneric;
  std::optional<bool> graphs;
  std::optional<double> expert_matrix, expert_stream;
};
template <>
struct Schema<EngineOn> {
  static constexpr auto fields =
      std::tuple{Of("architecture", &EngineOn::architecture, "Family of devices"), Of("graphs", &EngineOn::graphs, "As in the engine"),
                 Of("expert_matrix", &EngineOn::expert_matrix, "As in the engine").Above(0).AtMost(1),
                 Of("expert_stream", &EngineOn::expert_stream, "As in the engine").Above(0).AtMost(1)};
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
  static constexpr auto fields = std::tuple{
      Of("preset", &Engine::preset, "Catalogue entry that the other members override"),
      Of("name", &Engine::name, "What to call it"),
      Of("composition", &Engine::composition, "How a step is put together").Advanced(),
      Of("graphs", &Engine::graphs, "Decode steps are launched as one graph").Advanced(),
      Of("launch_gap", &Engine::launch_gap, "Between dependent kernels that are launched one by one").In(kUs).Between(0, 1e6).Advanced(),
      Of("prefill_gap", &Engine::prefill_gap, "The same in a prefill").In(kUs).Between(0, 1e6).Advanced(),
      Of("element_kernels", &Engine::element_kernels, "Norms, activation and residual kernels of a layer").Between(0, 100).Advanced(),
      Of("element_stream", &Engine::element_stream, "Share of the memory bandwidth of those kernels").Above(0).AtMost(1).Advanced(),
      Of("element_bytes", &Engine::element_bytes, "Further bytes a row and hidden element (bias and transpose passes)")
          .Between(0, 1000)
          .Advanced(),
      Of("step", &Engine::step, "Scheduler, sampling and token copy of a step").In(kUs).Between(0, 1e7).Advanced(),
      Of("sequence", &Engine::sequence, "The same a sequence").In(kUs).Between(0, 1e6).Advanced(),
      Of("prefill_step", &Engine::prefill_step, "Of a step that holds prefill").In(kUs).Between(0, 1e7).Advanced(),
      Of("prefill_host", &Engine::prefill_host, "Of the host, a step that holds prefill, beside the devices")
          .In(kUs)
          .Between(0, 1e7)
          .Advanced(),
      Of("prefill_launch", &Engine::prefill_launch, "Of the host, an operation of a prefill").In(kUs).Between(0, 1e6).Advanced(),
      Of("host_sequence", &Engine::host_sequence, "Of the host, a sequence and step, beside the devices")
          .In(kUs)
          .Between(0, 1e6)
          .Advanced(),
      Of("request", &Engine::request, "Handling of a request before its first token").In(kMs).Between(0, 1e5).Advanced(),
      Of("steps_ahead", &Engine::steps_ahead, "Steps launched before their predecessor has ended").Between(0, 16).Advanced(),
      Of("prefill_tokens", &Engine::prefill_tokens, "Tokens of prefill in a step, at most").Length().Between(1, 1 << 28).Advanced(),
      Of("groups_prefills", &Engine::groups_prefills, "Requests admitted together share a prefill and wait for each other").Advanced(),
      Of("queues_static_batch", &Engine::queues_static_batch, "Of a static batch only as many run as fit").Advanced(),
      Of("max_sequences", &Engine::max_sequences, "Sequences at once, at most").Between(1, 1 << 24).Advanced(),
      Of("attention", &Engine::attention, "Whose attention kernels run").Advanced(),
      Of("fp8_attention", &Engine::fp8_attention, "An fp8 cache makes attention of a prefill compute in fp8").Advanced(),
      Of("multi_query_from", &Engine::multi_query_from, "Query heads a KV head from which one kernel serves them together")
          .Between(1, 1024)
          .Advanced(),
      Of("expert_library", &Engine::expert_library, "Whose kernels run a layer of experts, timed alone").Advanced(),
      Of("experts", &Engine::experts, "Fixed cost of a layer of experts").In(kUs).Between(0, 1e6).Advanced(),
      Of("expert_matrix", &Engine::expert_matrix, "Rate of the expert products over the best kernels'").Above(0).AtMost(1).Advanced(),
      Of("expert_stream", &Engine::expert_stream, "The same while their weights stream").Above(0).AtMost(1).Advanced(),
      Of("pads_heads", &Engine::pads_heads, "Heads are padded to a multiple of the tensor parallel ranks").Advanced(),
      Of("all_reduce", &Engine::all_reduce, "The engine's own all-reduce kernels, a row a family of devices").Advanced(),
      Of("rank_skew", &Engine::rank_skew, "That the engine's own all-reduce waits for the last rank").In(kUs).Between(0, 1e6).Advanced(),
      Of("nccl_launch", &Engine::nccl_launch, "Host launch of NCCL without graphs, a doubling of the ranks, in a decode step")
          .In(kUs)
          .Between(0, 1e6)
          .Advanced(),
      Of("expert_exchange", &Engine::expert_exchange, "The engine's own dispatch and combine kernels; the first row that fits").Advanced(),
      Of("two_batch_overlap", &Engine::two_batch_overlap,
         "One half of the batch computes while the other's tokens travel to their experts; used where it gains")
          .Advanced(),
      Of("memory", &Engine::memory, "What the cache gets of the memory").Advanced(),
      Of("whole_layer", &Engine::whole_layer, "Constants of an engine whose layer is one operator").Advanced(),
      Of("layer_split", &Engine::layer_split, "Constants of an engine with one stream and layers split over the devices").Advanced(),
      Of("on", &Engine::on, "What differs on one family of devices").Advanced()};
};

}  // namespace slipstick
