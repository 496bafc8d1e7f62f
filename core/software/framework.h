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
#include "core/base/tally.h"
#include "core/software/expert_dispatch.h"
#include "core/software/flash_version.h"
#include "core/software/utilizations.h"

namespace slipstick {

// Projections with low-rank adapters: of attention only, or also of dense MLPs and shared experts; of no routed ones.
enum class AdapterTargets { kAttention, kAll };
ENUM_NAMES(AdapterTargets, {kAttention, "attention"}, {kAll, "all"});

// The framework's flash attention on one device architecture.
struct TrainingAttention {
  Architecture architecture;
  Ratio forward = 0;      // fraction of the dense peak, without exponentials
  Ratio backward = 0;     // the same
  Ratio exponential = 1;  // fraction of the exponentials that the tensor cores do not hide
};
template <>
struct Schema<TrainingAttention> {
  static constexpr std::string_view standard = "training_attention";
  static const Fields fields;
};

// Bytes per element moved by the passes that quantize activations.
struct QuantizePasses {
  Ratio fp8 = 0, mxfp8 = 0, nvfp4 = 0;
};
FIELDS_OF(QuantizePasses);

struct FrameworkCompute {
  Ratio element_wise = 0;
  std::vector<TrainingAttention> attention;
  std::optional<FlashVersion> flash_version;  // absent: the fastest kernels, with the members above
  bool skips_masked_tiles = true;
  bool balanced_context = true;
  Ratio softmax_passes = 0;
  bool fused_accumulation = true;
  bool separate_accumulation = false;
  Ratio logit_traffic = 0;
  QuantizePasses quantize;
  Ratio selective_share = 0;
  bool stops_recomputing = false;  // as soon as everything that a layer's backward pass needs is restored
  Seconds layer_launch;
  Seconds moe_layer_launch;
  std::optional<Seconds> pipelined_launch;  // added per layer and TP rank if TP and a pipeline meet; absent: 0
  Seconds adapter_launch{};                 // added per layer with low-rank adapters
  Ratio unpack_operations = 0;              // per quantized weight, at the fp32 peak
  Ratio backward_launches = 1;              // of a backward pass with recomputation, relative to one without
  Ratio loss_forward = 0;
  Ratio adapter_traffic = 1;
};
FIELDS_OF(FrameworkCompute);

// Default expert tensor parallelism of the framework: 1, or the tensor parallelism of attention.
enum class ExpertTensor { kOne, kTensorParallel };
ENUM_NAMES(ExpertTensor, {kOne, "one"}, {kTensorParallel, "tp"});

struct FrameworkExperts {
  Ratio grouped_efficiency = 0;
  Ratio grouped_efficiency_fp8 = 0;
  Ratio imbalance = 0;
  Ratio permute_traffic = 0;
  bool unfused_biases = false;  // biases of experts in 16 bits have separate kernels
  Ratio exposed = 0;
  Ratio exposed_overlapped = 0;
  ExpertDispatch dispatch = ExpertDispatch::kAllToAll;
  Ratio dispatch_bytes = 2;
  Tally dispatch_units = 0;
  ExpertTensor expert_tp = ExpertTensor::kOne;
};
FIELDS_OF(FrameworkExperts);

enum class GradientOverlap { kNone, kSinglePass, kAlways };
ENUM_NAMES(GradientOverlap, {kNone, "none"}, {kSinglePass, "single_pass"}, {kAlways, "always"});

struct FrameworkExchange {
  Ratio network_share = 0;
  bool tensor_overlap = true;
  Ratio tensor_exposed = 0;
  bool repeats_gathers = false;
  bool pipeline_overlap = true;
  Ratio pipeline_exposed = 0;
  bool scatters_sends = true;
  GradientOverlap gradient_overlap = GradientOverlap::kAlways;
  Ratio gradient_bytes = 2;
  bool reduces_whole_gradients = false;
  bool reduces_once = false;    // gradients of ZeRO 2 and 3, in the last micro-batch
  bool reduces_at_end = false;  // groups of ranks that share weights reduce once, after the last layer
  Seconds shard_broadcast;
  Ratio contention = 0;
  Ratio contention_share = 1;
  Ratio hiding_share = 0;
  Ratio last_bucket = 0;
};
FIELDS_OF(FrameworkExchange);

struct FrameworkMemory {
  Ratio weights = 0;
  Ratio weights_fp8 = 0;
  Ratio frozen_weights_fp8 = 1;
  bool weights_are_master = false;
  Ratio gradients = 0;
  Ratio gradients_fp8 = 0;
  bool frees_gradients = false;  // after every update; the backward pass makes them anew
  Ratio data_parallel_gradients = 0;
  Ratio sharded_gradients = 0;
  Ratio sharded_optimizer = 0;
  Ratio update = 0;
  Bytes fixed_static;
  Ratio kept_hidden = 0;
  bool splits_residual = false;
  Ratio hidden = 0;
  Ratio gated = 0;
  Ratio plain = 0;
  Ratio gathered = 0;
  Ratio hidden_saved_fp8 = 0;
  Ratio gated_saved_fp8 = 1;
  Ratio working_hidden = 0;
  Ratio working_hidden_tensor = 0;
  Ratio selective_kept = 1;
  Ratio head_gathered = 0;
  Ratio logits = 0;
  bool fp32_logits = false;  // the model passes the loss an fp32 copy
  Bytes constant;
  Bytes communication;
  Bytes outside;
  Tally gathered_layers = 0;
};
FIELDS_OF(FrameworkMemory);

// Optimizer state besides the moments.
struct FrameworkOptimizer {
  Ratio master_weights_fp8 = 0;  // bytes per parameter, in an 8- or 4-bit recipe
};
FIELDS_OF(FrameworkOptimizer);

// What the framework does with an offloaded optimizer state.
struct FrameworkOffload {
  bool gradients = false;             // gradients also move to the host
  bool keeps_master_weights = false;  // the device keeps the weights that are updated; only the moments leave it
  std::optional<BytesPerSecond>
      host_update;  // memory bandwidth of an update by the host; absent: the device updates, and state is streamed
};
FIELDS_OF(FrameworkOffload);

// Numbers of micro-batches that the framework can interleave over pipeline stages.
enum class InterleavedBatches {
  kAny,
  kStages,  // multiples of the stages: a chunk runs as many micro-batches as there are stages before the next chunk
            // does
  kRounds   // multiples of the number of rounds, floor(micro-batches / stages)
};
ENUM_NAMES(InterleavedBatches, {kAny, "any"}, {kStages, "stages"}, {kRounds, "rounds"});

// What its code supports; empty lists: no restriction. A tuner stays within; a run beyond it is legal, with a warning.
struct FrameworkCapabilities {
  std::vector<Architecture> devices;     // families on which it runs
  std::vector<std::string> parallelism;  // supported ones of tp, cp, pp, ep; data parallelism is always supported
  std::vector<std::string> schedules;    // of the pipeline
  bool interleaves = true;
  InterleavedBatches interleaved_batches = InterleavedBatches::kAny;
  std::vector<Count> zero;               // ZeRO stages
  std::vector<std::string> dispatchers;  // from which a run may choose; none: only the framework's own
  Tally dedicated_ranks = 0;             // maximum ranks of an expert group that uses dedicated kernels
  bool overlaps_experts = false;  // 1F1B runs a forward and a backward pass together; each hides the other's exchange
  bool mtp = true;                // trains modules of multi-token prediction
};
FIELDS_OF(FrameworkCapabilities);
// Whether it can run this number of micro-batches on interleaved stages; its code rejects others.
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
  bool places_by_cost = false;  // stages take layers in order until each has its share of the parameters, head included
  bool ends_as_layers = true;   // embedding and head count as one layer each if that makes the virtual stages equal
  Ratio jitter = 0;
  Seconds step_overhead;
  Tally lora_rank = 1;
  AdapterTargets lora_targets = AdapterTargets::kAttention;
  std::optional<Utilizations> utilization;  // absent: each kernel reaches its own efficiency
};
template <>
struct Schema<Framework> {
  static constexpr std::string_view preset_kind = "framework";
  static constexpr std::string_view standard = "framework";
  static const Fields fields;
};

}  // namespace slipstick
