// A serving engine as data: overheads per step, layer and sequence, its kernels, its memory budget. Presets:
// core/presets/engines/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/base/units.h"
#include "core/software/compiled_graph.h"
#include "core/software/expert_exchange.h"
#include "core/software/flash_version.h"
#include "core/software/graph_sizes.h"
#include "core/software/layer_pipeline.h"
#include "core/software/utilizations.h"
#include "core/workload/precision.h"

namespace slipstick {

// How the time of a step is composed (engine_step/step_time.h).
enum class Composition {
  kKernels,        // kernel by kernel: matrix products, attention, elementwise passes, all-reduces, launch gaps
  kCompiledGraph,  // a compiled layer is one operator with a fixed cost
  kLayerPipelined  // llama.cpp: one stream, layers split over the devices, many small dependent kernels
};
ENUM_NAMES(Composition, {kKernels, "kernels"}, {kCompiledGraph, "whole_layer"}, {kLayerPipelined, "layer_split"});

enum class AttentionLibrary {
  kGeneric,     // the split-KV kernels of any current engine
  kTrtllm,      // TensorRT-LLM: XQA on Hopper and before, its own kernels on Blackwell
  kFlashInfer,  // FlashAttention-3 on Hopper, FlashInfer on Blackwell (vLLM, SGLang)
  kGgml,        // llama.cpp: as generic
  kUnfused      // prefill by matrix products and a softmax (FasterTransformer)
};
ENUM_NAMES(AttentionLibrary, {kGeneric, "generic"}, {kTrtllm, "trtllm"}, {kFlashInfer, "flashinfer"}, {kGgml, "ggml"},
           {kUnfused, "unfused"});

// Kernel library of a layer's experts.
enum class ExpertLibrary {
  kTrtllm,     // TensorRT-LLM: grouped CUTLASS products
  kFlashInfer  // Triton on Hopper and before, FlashInfer's generated kernels on Blackwell (vLLM, SGLang)
};
ENUM_NAMES(ExpertLibrary, {kTrtllm, "trtllm"}, {kFlashInfer, "flashinfer"});

// How the memory for the KV cache is determined.
enum class BudgetRule {
  kShareOfDevice,  // a share of the usable memory, minus weights, activations and the reserve (vLLM:
                   // gpu_memory_utilization)
  kShareOfFree,    // a share of the memory that weights, activations and the reserve leave free (TensorRT-LLM:
                   // free_gpu_memory_fraction)
  kShareOfStart    // a share of the memory free at the start, minus weights; activations are in the rest (SGLang:
                   // mem_fraction_static)
};
ENUM_NAMES(BudgetRule, {kShareOfDevice, "share_of_device"}, {kShareOfFree, "share_of_free"},
           {kShareOfStart, "share_of_start"});

// Default settings of devices with much memory.
struct LargeDeviceSteps {
  Bytes device_memory;                // minimum usable memory for these settings
  std::vector<Architecture> devices;  // device families to which they apply; none: all
  Tally activation_tokens = 0;
  Tally logit_sequences = 0;
};
FIELDS_OF(LargeDeviceSteps);

struct MemoryBudget {
  BudgetRule rule = BudgetRule::kShareOfDevice;
  std::optional<Ratio> share;  // absent: all but the headroom
  // Memory beside weights and KV cache: a constant part, and a part per token of the largest step (at least
  // activation_tokens).
  Bytes headroom, headroom_per_token;
  Bytes reserve;  // memory of the process for context and libraries, which the model does not compute
  Bytes reserve_parallel = 0 * kGB;  // added to the reserve if several devices share a replica
  Ratio output_reserved = 1;         // share of a request's output reserved at admission; 1 never evicts
  Ratio window_share = 0;            // share of a sequence's tokens that a sliding-window layer holds at least
  // Memory of recurrent states over that of the KV cache, each with a pool of its own; absent: both share one.
  std::optional<Ratio> state_ratio;
  Tally sequence_states = 1;    // states that a running sequence takes from that pool
  Tally block = 1;              // tokens per KV-cache page
  Tally activation_tokens = 0;  // tokens per step for which activations are sized; 0: they are in the reserve
  Tally logit_sequences = 0;    // sampled sequences per step, by default; 0: logits are in the reserve
  bool divides_step = false;    // groups of data-parallel attention divide the tokens of the default step
  std::vector<LargeDeviceSteps> large_devices{};  // the last that applies to a device counts
};
template <>
struct Schema<MemoryBudget> {
  static constexpr std::string_view standard = "memory_budget";
  static const Fields fields;
};

// Exceptions on one device architecture.
struct EngineOn {
  Architecture architecture;
  std::optional<bool> graphs, quantizes_apart, mixes_attention;
  std::optional<bool> triton_latent;        // latent attention decodes in Triton's kernel
  std::optional<bool> visits_held_experts;  // fp8 kernels with block scales take time even for experts without tokens
  std::optional<Seconds> step, per_sequence, launch_gap;
  std::optional<Ratio> stored_efficiency;  // of products with stored weights, over the rate of the activations' format
  std::optional<Tally> stored_tile_rows;
  std::optional<Precision> sparse_kv_cache;  // of latent attention with an indexer, where nobody wrote a format
  std::optional<Tally> latent_head_dim;  // head dimension, without rotary part, that the engine's latent kernels decode
  std::optional<Ratio> expert_gemm_efficiency, expert_bandwidth_efficiency;
  // Only for experts with narrow weights.
  std::optional<Flops> weight_only_per_clock;
  std::optional<Ratio> weight_only_bandwidth_efficiency;
};
FIELDS_OF(EngineOn);

// Fixed times of the host and of launches. Host times overlap with the devices and are lower bounds on a step; all
// others are added to it.
struct EngineOverhead {
  Seconds launch_gap;                    // between dependent kernels launched one by one
  Seconds prefill_launch_gap = 0 * kUs;  // the same in prefill with graphs
  Seconds step;                          // scheduler, sampling, token copy
  Seconds per_sequence;                  // per sequence and step
  Seconds prefill_step;                  // per step with prefill
  Seconds prefill_step_host = 0 * kUs;   // host, per step with prefill
  Seconds prefill_launch = 0 * kUs;      // host, per operation of a prefill outside a graph
  Seconds per_sequence_host = 0 * kUs;   // host, per sequence and step
  Seconds per_request;                   // per request, before its first token
  Seconds per_prompt_token = 0 * kUs;    // and per token of its prompt
};

struct EngineScheduler {
  Ratio steps_ahead = 0;             // steps already launched when a request arrives, besides the running one
  Tally prefill_tokens = 1;          // maximum per step
  Tally receive_interval = 1;        // steps between two checks for new requests
  Tally collect_steps = 0;           // maximum steps that a request waits to be prefilled with others
  Ratio collect_share = 1;           // share of a step's tokens at which prompts are prefilled without further waiting
  bool splits_prompts = false;       // a prompt longer than a step is split over several steps
  bool prefills_first = false;       // a step either prefills or decodes, prompts first
  bool groups_prefills = false;      // requests admitted together share a prefill and wait for each other
  bool queues_static_batch = false;  // in a static batch, requests that do not fit wait for the others
  bool loads_apart = false;          // a request whose prefix is loaded waits for it while others continue
  Tally max_sequences = 1;           // maximum that run at once
};

struct EngineKernels {
  bool graphs = true;              // decode steps are launched as one CUDA graph
  Tally prefill_graph_tokens = 0;  // largest prefill with piecewise graphs between the attention of two layers; 0: none
  Ratio elementwise_kernels = 0;   // per layer: norms, activation, residual
  Ratio recurrent_kernels = 0;     // per recurrent layer, in addition: gates, convolution, copies of the state
  Ratio elementwise_bandwidth_efficiency = 0;  // share of the memory bandwidth
  bool quantizes_apart = false;                // activations are quantized by a separate kernel before each product
  Ratio elementwise_launch = 1;                // launch latency of an elementwise kernel relative to a matrix product's
  Ratio logit_bandwidth_efficiency = 1;        // share of the memory bandwidth while logits are written and read
  Ratio elementwise_bytes = 0;  // added bytes per row and hidden element, split over tp (bias and transpose passes)
  AttentionLibrary attention = AttentionLibrary::kGeneric;
  bool latent_splits_by_length = false;  // Triton's kernel of latent attention; else its blocks fill the SMs
  // Unfused prefill: fractions of the dense peak and of the memory bandwidth; bytes of memory traffic per score.
  Ratio unfused_gemm_efficiency = 1, unfused_bandwidth_efficiency = 1;
  Bytes unfused_score_bytes;
  std::optional<FlashVersion> flash_version;  // of prefill; absent: the library's own kernels
  // FlashAttention version used for prefill with attention sinks on devices without asynchronous matrix instructions,
  // where the library's kernels do not support sinks; absent: supported everywhere.
  std::optional<FlashVersion> sinks_version;
  std::optional<Tally>
      fused_passes;  // launched between the products and the attention of a dense layer of prefill; absent: not fused
  bool fp8_attention = false;  // prefill attention computes in fp8 over an fp8 KV cache
  // smallest heads / kv_heads for which one kernel serves the heads together; below it each head reads the KV cache
  Tally multi_query_from = 1;
  ExpertLibrary expert_library = ExpertLibrary::kTrtllm;
  Seconds moe_layer_overhead;
  Ratio expert_gemm_efficiency = 1;       // relative to the fastest library's expert products
  Ratio expert_bandwidth_efficiency = 0;  // the same, while the experts' weights are read
  // Families on which expert kernels in 16 bit and fp8 choose their tiles by the number of tokens in a step.
  std::vector<Architecture> chooses_expert_tiles;
  Ratio load_variation = 0;  // coefficient of variation of the experts' tokens, if the model states no imbalance
  bool pads_heads = false;   // pads heads to a multiple of tp
  std::optional<Ratio>
      expert_kernels;  // launched per MoE layer in addition to those of a dense layer, where no graph holds them
  std::optional<Tally> decode_graph_sequences;  // largest decode step that is a graph; absent: any
  std::vector<GraphSizes> graph_sizes;  // numbers of sequences to which a decode step is padded; none: no padding
};

// How prefill context parallelism brings the ranks' keys and values together.
enum class PromptExchange {
  kNone,       // the engine has no prefill context parallelism
  kAllGather,  // before attention, not hidden
  kRing        // part after part, each sent during attention to the previous one (Liu et al. 2023; pass-KV of arXiv
               // 2411.01783)
};
ENUM_NAMES(PromptExchange, {kNone, "none"}, {kAllGather, "all_gather"}, {kRing, "ring"});

// Which degrees split a replica over devices.
enum class ReplicaSplit {
  kAny,          // each of them, together
  kEither,       // TP or PP; no DP attention, no EP
  kLayersFirst,  // the same, PP where nobody wrote TP
};
ENUM_NAMES(ReplicaSplit, {kAny, "any"}, {kEither, "tensors_or_layers"}, {kLayersFirst, "layers_or_tensors"});

struct EngineCommunication {
  ReplicaSplit split = ReplicaSplit::kAny;
  // Whether experts can be spread over `ep` of `ranks` ranks that hold a layer.
  [[nodiscard]] bool AllowsEp(Count ep, Count ranks) const { return !whole_ep || ep == 1 || ep == ranks; }
  PromptExchange prompt_exchange = PromptExchange::kNone;
  // Time that the second pass of the engine's own all-reduce adds, if peers reach each other's memory; absent: the
  // engine uses the library's all-reduce.
  std::optional<Seconds> second_pass;
  Ratio host_copy_efficiency = 1;  // share of the host link's bandwidth that large copies reach
  Seconds rank_skew;               // wait of the engine's own all-reduce for the last rank
  Seconds nccl_launch = 0 * kUs;   // host launch of NCCL without graphs, per doubling of the ranks, in a decode step
  std::vector<ExchangeKernels>
      expert_exchange;             // the engine's own kernels, the first row that applies; none: collectives
  bool two_batch_overlap = false;  // with those kernels: one half of the batch computes while the other's tokens travel
  bool whole_ep = false;           // experts are spread over all ranks of TP and DP attention, or over none
};

// Kernels that multiply with quantized weights in their stored format: a tile's weights are loaded, converted and
// multiplied in turn.
struct StoredProducts {
  // Maximum per SM: conversions and scaling are issued between its matrix instructions; absent: only matrix-vector
  // kernels of dense products are the engine's own.
  std::optional<Flops> per_clock;
  bool loads_ahead = false;  // a matrix-vector kernel loads while it multiplies
  Flops vector_per_clock;    // maximum per SM in a matrix-vector kernel
  Tally tile_rows = 1;       // maximum rows that share the weights of a tile; with more, the weights are read again
  Bytes pass_bytes;          // per element between the products of experts, where each pass is a kernel
  Seconds token_walk;        // per token of a pass, if a warp per expert walks over all tokens to find its rows
  Tally vector_rows = 0;     // maximum rows of a matrix-vector kernel, which computes no padding
  Tally vector_tokens = 1;   // maximum tokens of a pass whose expert products are matrix-vector kernels
};
template <>
struct Schema<StoredProducts> {
  static constexpr std::string_view standard = "stored_products";
  static const Fields fields;
};

// Products with weights that stay in host memory: for few tokens the processor computes them; for more tokens, the
// weights are copied to the device, which computes them.
struct HostProducts {
  Ratio bandwidth_efficiency = 0;  // share of the host memory's bandwidth at which the processor reads weights
  Seconds overhead;                // per layer: the device waits for the processor, and the processor for the device
  Tally device_from = 0;           // least tokens of a pass for which weights are copied
};
template <>
struct Schema<HostProducts> {
  static constexpr std::string_view standard = "host_products";
  static const Fields fields;
};

// Formats of the checkpoints that an engine loads.
struct EngineFormats {
  std::vector<Precision> weights;         // supported formats, the usual one first; none: all
  std::optional<Precision> kept_weights;  // format of the parts that a narrow checkpoint keeps wider; absent: 16 bit
  bool follows_kv_cache = false;          // the KV cache has the format that the checkpoint names
};

// The field table is flat: in a scenario, members of these groups are members of the engine.
struct Engine {
  std::string preset = "vllm";
  std::string name = "vLLM";
  Composition composition = Composition::kKernels;
  EngineOverhead overhead;
  EngineScheduler scheduler;
  EngineKernels kernels;
  EngineCommunication communication;
  EngineFormats formats;
  std::vector<Architecture> devices;  // families on which it runs; none: all
  MemoryBudget memory;
  std::optional<CompiledGraph> compiled_graph;
  std::optional<LayerPipeline> layer_pipeline;
  std::optional<StoredProducts> stored_products;  // absent: the device family's kernels convert weights
  std::optional<HostProducts> host_products;      // absent: all weights are in device memory
  std::vector<EngineOn> on;
  std::optional<Utilizations> utilization;  // absent: each kernel reaches its own efficiency
  bool plain = false;                       // the constants were fitted to plain commands, so no tuning factors apply
};
template <>
struct Schema<Engine> {
  static constexpr std::string_view preset_kind = "engine";
  static constexpr std::string_view standard = "engine";
  static const Fields fields;
};

}  // namespace slipstick
