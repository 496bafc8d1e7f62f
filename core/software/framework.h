// A training framework as data: overlap, fusion, launches, memory. Presets: core/presets/frameworks/; help:
// framework_fields.cc.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/software/adapter_targets.h"
#include "core/software/expert_dispatch.h"
#include "core/software/flash_version.h"
#include "core/software/utilizations.h"

namespace slipstick {

// The framework's flash attention on one device architecture.
struct TrainingAttention {
  Architecture architecture;
  double forward = 0;      // share of the dense peak, exponentials apart
  double backward = 0;     // the same
  double exponential = 1;  // share of the exponentials that the tensor cores do not hide
};
template <>
struct Schema<TrainingAttention> {
  static constexpr std::string_view standard = "training_attention";
  static const Fields fields;
};

// Bytes per element moved by the passes that quantize activations.
struct QuantizePasses {
  double fp8 = 0, mxfp8 = 0, nvfp4 = 0;
};
template <>
struct Schema<QuantizePasses> {
  static const Fields fields;
};

struct FrameworkCompute {
  double element_wise = 0;
  std::vector<TrainingAttention> attention;
  std::optional<FlashVersion> flash_version;  // absent: the fastest kernels, as the members above have them
  bool skips_masked_tiles = true;
  bool balanced_context = true;
  double softmax_passes = 0;
  bool fused_accumulation = true;
  bool separate_accumulation = false;
  double logit_traffic = 0;
  QuantizePasses quantize;
  double selective_share = 0;
  Seconds layer_launch;
  Seconds moe_layer_launch;
  std::optional<Seconds> pipelined_launch;  // more per layer and TP rank, where TP and a pipeline meet; absent: no more
  Seconds adapter_launch{};                 // more per layer with low-rank adapters
  double unpack_operations = 0;             // per quantized weight, at the fp32 peak
  double backward_launches = 1;             // where a backward pass repeats the forward pass, over one that does not
  double loss_forward = 0;
  double adapter_traffic = 1;
};
template <>
struct Schema<FrameworkCompute> {
  static const Fields fields;
};

// Default expert tensor parallelism of the framework: 1, or the tensor parallelism of attention.
enum class ExpertTensor { kOne, kTensorParallel };
ENUM_NAMES(ExpertTensor, {kOne, "one"}, {kTensorParallel, "tp"});

struct FrameworkExperts {
  double grouped_efficiency = 0;
  double grouped_efficiency_fp8 = 0;
  double imbalance = 0;
  double permute_traffic = 0;
  bool unfused_biases = false;  // biases of experts in 16 bits have kernels of their own
  double exposed = 0;
  double exposed_overlapped = 0;
  ExpertDispatch dispatch = ExpertDispatch::kAllToAll;
  double dispatch_bytes = 2;
  Count dispatch_units = 0;
  ExpertTensor expert_tp = ExpertTensor::kOne;
};
template <>
struct Schema<FrameworkExperts> {
  static const Fields fields;
};

enum class GradientOverlap { kNone, kSinglePass, kAlways };
ENUM_NAMES(GradientOverlap, {kNone, "none"}, {kSinglePass, "single_pass"}, {kAlways, "always"});

struct FrameworkExchange {
  double network_share = 0;
  bool tensor_overlap = true;
  double tensor_exposed = 0;
  bool repeats_gathers = false;
  bool pipeline_overlap = true;
  double pipeline_exposed = 0;
  bool scatters_sends = true;
  GradientOverlap gradient_overlap = GradientOverlap::kAlways;
  double gradient_bytes = 2;
  bool reduces_whole_gradients = false;
  bool reduces_at_end = false;  // between groups of ranks that share weights: once, after the last layer
  Seconds shard_broadcast;
  double contention = 0;
  double contention_share = 1;
  double hiding_share = 0;
  double last_bucket = 0;
};
template <>
struct Schema<FrameworkExchange> {
  static const Fields fields;
};

struct FrameworkMemory {
  double weights = 0;
  double weights_fp8 = 0;
  double frozen_weights_fp8 = 1;
  bool weights_are_master = false;
  double gradients = 0;
  double gradients_fp8 = 0;
  double data_parallel_gradients = 0;
  double sharded_gradients = 0;
  double sharded_optimizer = 0;
  double update = 0;
  Bytes fixed_static;
  double kept_hidden = 0;
  bool splits_residual = false;
  double hidden = 0;
  double gated = 0;
  double plain = 0;
  double gathered = 0;
  double hidden_saved_fp8 = 0;
  double gated_saved_fp8 = 1;
  double working_hidden = 0;
  double working_hidden_tensor = 0;
  double selective_kept = 1;
  double head_gathered = 0;
  double logits = 0;
  Bytes constant;
  Bytes communication;
  Bytes outside;
  Count gathered_layers = 0;
};
template <>
struct Schema<FrameworkMemory> {
  static const Fields fields;
};

// The optimizer state beside its moments.
struct FrameworkOptimizer {
  double master_weights_fp8 = 0;  // bytes per parameter, in an 8- or 4-bit recipe
};
template <>
struct Schema<FrameworkOptimizer> {
  static const Fields fields;
};

// What the framework does with an offloaded optimizer state.
struct FrameworkOffload {
  bool gradients = false;  // gradients leave for the host with it
  std::optional<BytesPerSecond>
      host_update;  // the host updates, at this rate of its memory; absent: the device does, state streams
};
template <>
struct Schema<FrameworkOffload> {
  static const Fields fields;
};

// Numbers of micro-batches that the framework's code interleaves over pipeline stages.
enum class InterleavedBatches {
  kAny,
  kStages,  // multiples of the stages: a chunk runs as many micro-batches as there are stages before the next chunk
            // does
  kRounds   // those that split evenly into as many rounds as the stages go into them
};
ENUM_NAMES(InterleavedBatches, {kAny, "any"}, {kStages, "stages"}, {kRounds, "rounds"});

// What its code runs; an empty list does not restrict. A tuner stays inside; beyond it a run is legal and warned of.
struct FrameworkCapabilities {
  std::vector<Architecture> devices;     // families that it runs on
  std::vector<std::string> parallelism;  // of tp, cp, pp, ep; data parallelism is always there
  std::vector<std::string> schedules;    // of the pipeline
  bool interleaves = true;
  InterleavedBatches interleaved_batches = InterleavedBatches::kAny;
  std::vector<Count> zero;               // stages
  std::vector<std::string> dispatchers;  // that a run may choose between; none: the framework's own only
  Count dedicated_ranks = 0;             // at most, of an expert group whose tokens dedicated kernels carry
  bool overlaps_experts = false;  // 1F1B runs a forward and a backward pass together, each hiding the other's exchange
};
template <>
struct Schema<FrameworkCapabilities> {
  static const Fields fields;
};
// Whether it runs so many micro-batches through interleaved stages; others its code refuses.
inline bool InterleavesBatches(const FrameworkCapabilities& can, Count stages, Count micro_batches) {
  if (can.interleaved_batches == InterleavedBatches::kStages) return micro_batches % stages == 0;
  if (can.interleaved_batches == InterleavedBatches::kRounds)
    return micro_batches % std::max<Count>(1, micro_batches / stages) == 0;
  return true;
}

struct Framework {
  std::string preset = "megatron";
  std::string name = "Megatron-Core";
  FrameworkCompute compute;
  FrameworkExperts experts;
  FrameworkExchange exchange;
  FrameworkMemory memory;
  FrameworkOptimizer optimizer;
  FrameworkOffload offload;
  FrameworkCapabilities capabilities;
  bool places_by_cost = false;  // layers in order until a stage has its share of the parameters (head included)
  bool ends_as_layers = true;   // embedding and head count as a layer each where that makes the virtual stages equal
  double jitter = 0;
  Seconds step_overhead;
  Count lora_rank = 1;
  AdapterTargets lora_targets = AdapterTargets::kAttention;
  std::optional<Utilizations> utilization;  // absent: each kernel reaches its own
};
template <>
struct Schema<Framework> {
  static constexpr std::string_view preset_kind = "framework";
  static constexpr std::string_view standard = "framework";
  static const Fields fields;
};

}  // namespace slipstick
