// A training stack as numbers: how it overlaps, fuses, launches and keeps memory. Presets: core/presets/frameworks/.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"

namespace slipstick {

// The stack's flash attention in training on one family of devices.
struct TrainingAttention {
  Architecture architecture = Architecture::kGeneric;
  double forward = 0.65;   // share of the dense peak while the matrix units work
  double backward = 0.5;   // the same
  double exponential = 1;  // share of the exponentials that the matrix work does not hide
};
template <>
struct Schema<TrainingAttention> {
  static constexpr auto fields = std::tuple{
      Of("architecture", &TrainingAttention::architecture, "Family of devices"),
      Of("forward", &TrainingAttention::forward, "Forward pass, share of the dense peak").Above(0).AtMost(1),
      Of("backward", &TrainingAttention::backward, "Backward pass, share of the dense peak").Above(0).AtMost(1),
      Of("exponential", &TrainingAttention::exponential, "Share of the exponentials that the matrix work does not hide").Between(0, 1)};
};

// Bytes moved an element by the passes that bring activations to a narrow format.
struct QuantisePasses {
  double fp8 = 3, mxfp8 = 5.8, nvfp4 = 3;
};
template <>
struct Schema<QuantisePasses> {
  static constexpr auto fields = std::tuple{Of("fp8", &QuantisePasses::fp8, "Bytes an element").Between(0, 64),
                                            Of("mxfp8", &QuantisePasses::mxfp8, "Bytes an element").Between(0, 64),
                                            Of("nvfp4", &QuantisePasses::nvfp4, "Bytes an element").Between(0, 64)};
};

struct FrameworkCompute {
  double element_wise = 0.75;
  std::vector<TrainingAttention> attention;
  bool skips_masked_tiles = true;
  bool balanced_context = true;
  double softmax_passes = 15;
  bool fused_accumulation = true;
  bool separate_accumulation = false;
  double logit_traffic = 19;
  QuantisePasses quantise;
  double selective_share = 0;
  Seconds layer_launch = 0.4 * kMs;
  Seconds moe_layer_launch = 8.6 * kMs;
};
template <>
struct Schema<FrameworkCompute> {
  static constexpr auto fields = std::tuple{
      Of("element_wise", &FrameworkCompute::element_wise,
         "Share of the streaming rate of element-wise work, each operand counted once; above 1 fusion removes passes")
          .Above(0)
          .AtMost(4),
      Of("attention", &FrameworkCompute::attention, "Flash attention kernels by family of devices; none: the device's own"),
      Of("skips_masked_tiles", &FrameworkCompute::skips_masked_tiles, "Attention leaves out what the causal mask hides"),
      Of("balanced_context", &FrameworkCompute::balanced_context, "Context parallel ranks get equal shares of the causal triangle"),
      Of("softmax_passes", &FrameworkCompute::softmax_passes, "Unfused attention: passes over the scores, forward and backward together")
          .Between(0, 64),
      Of("fused_accumulation", &FrameworkCompute::fused_accumulation, "Weight-gradient products add into the fp32 gradient"),
      Of("separate_accumulation", &FrameworkCompute::separate_accumulation, "Gradients are added into the fp32 copy by a pass of its own"),
      Of("logit_traffic", &FrameworkCompute::logit_traffic, "Softmax and loss: bytes moved a logit, forward and backward").Between(0, 256),
      Of("quantise", &FrameworkCompute::quantise, "Passes that bring activations to a narrow format"),
      Of("selective_share", &FrameworkCompute::selective_share,
         "Selective recomputation repeats this share of a layer's forward pass; 0: the attention core only")
          .Between(0, 1),
      Of("layer_launch", &FrameworkCompute::layer_launch, "Host time to launch a layer's kernels, forward and backward")
          .In(kMs)
          .Between(0, 1e4),
      Of("moe_layer_launch", &FrameworkCompute::moe_layer_launch, "The same for a layer with experts").In(kMs).Between(0, 1e4)};
};

// What carries tokens to their experts: a library's all-to-all, which sends a copy to every rank that holds one of the token's
// experts, or kernels made for it (DeepEP), which cross the network once a node.
enum class ExpertDispatch { kAllToAll, kDedicated };
template <>
struct EnumNames<ExpertDispatch> {
  static constexpr std::array<std::pair<ExpertDispatch, std::string_view>, 2> names{
      {{ExpertDispatch::kAllToAll, "all_to_all"}, {ExpertDispatch::kDedicated, "dedicated"}}};
};

// Over how many ranks the stack splits an expert where a run does not say: none, or as many as attention's tensor parallelism.
enum class ExpertTensor { kOne, kTensorParallel };
template <>
struct EnumNames<ExpertTensor> {
  static constexpr std::array<std::pair<ExpertTensor, std::string_view>, 2> names{
      {{ExpertTensor::kOne, "one"}, {ExpertTensor::kTensorParallel, "tp"}}};
};

struct FrameworkExperts {
  double grouped_efficiency = 0.79;
  double grouped_efficiency_fp8 = 0.69;
  double imbalance = 1.1;
  double permute_traffic = 9.6;
  // Experts with biases and a limited activation, in 16 bit, where the fused kernels know neither.
  double biased_inner_forward = 0, biased_inner_backward = 0;
  double biased_output_forward = 0, biased_output_backward = 0;
  double exposed = 0.33;
  double exposed_overlapped = 0.3;
  ExpertDispatch dispatch = ExpertDispatch::kAllToAll;
  double dispatch_bytes = 2;
  Count dispatch_units = 24;
  ExpertTensor expert_tp = ExpertTensor::kOne;
};
template <>
struct Schema<FrameworkExperts> {
  static constexpr auto fields = std::tuple{
      Of("grouped_efficiency", &FrameworkExperts::grouped_efficiency, "Grouped products over plain ones, 16 bit").Above(0).AtMost(1),
      Of("grouped_efficiency_fp8", &FrameworkExperts::grouped_efficiency_fp8, "Grouped products over plain ones, 8 and 4 bit")
          .Above(0)
          .AtMost(1),
      Of("imbalance", &FrameworkExperts::imbalance, "Rows of the busiest device over the mean, where the model states none").Between(1, 64),
      Of("permute_traffic", &FrameworkExperts::permute_traffic, "Bytes moved an element of a routed row, forward").Between(0, 256),
      Of("biased_inner_forward", &FrameworkExperts::biased_inner_forward,
         "Experts with biases, 16 bit: bytes moved besides an element between their two products, forward")
          .Between(0, 256),
      Of("biased_inner_backward", &FrameworkExperts::biased_inner_backward, "The same, backward").Between(0, 256),
      Of("biased_output_forward", &FrameworkExperts::biased_output_forward,
         "Experts with biases, 16 bit: bytes moved besides an element of their outputs, forward")
          .Between(0, 256),
      Of("biased_output_backward", &FrameworkExperts::biased_output_backward, "The same, backward").Between(0, 256),
      Of("exposed", &FrameworkExperts::exposed, "Share of dispatch and combine that is not hidden").Between(0, 1),
      Of("exposed_overlapped", &FrameworkExperts::exposed_overlapped, "Of that share, what stays where overlap.ep is on").Between(0, 1),
      Of("dispatch", &FrameworkExperts::dispatch, "What carries tokens to their experts"),
      Of("dispatch_bytes", &FrameworkExperts::dispatch_bytes, "Bytes an element travels in to the experts; 1.03 in fp8 with scales")
          .Between(0.5, 4),
      Of("dispatch_units", &FrameworkExperts::dispatch_units, "Units (SMs) that dedicated kernels run on").Between(1, 1024),
      Of("expert_tp", &FrameworkExperts::expert_tp,
         "Expert tensor parallelism that the framework itself defaults to; a run here has 1 unless its mapping says otherwise")};
};

enum class GradientOverlap { kNone, kSinglePass, kAlways };
template <>
struct EnumNames<GradientOverlap> {
  static constexpr std::array<std::pair<GradientOverlap, std::string_view>, 3> names{
      {{GradientOverlap::kNone, "none"}, {GradientOverlap::kSinglePass, "single_pass"}, {GradientOverlap::kAlways, "always"}}};
};

struct FrameworkExchange {
  double network_share = 0.8;
  bool tensor_overlap = true;
  double tensor_exposed = 0.24;
  bool pipeline_overlap = true;
  double pipeline_exposed = 0.2;
  double pipeline_scale = 1;
  bool scatters_sends = true;
  GradientOverlap gradient_overlap = GradientOverlap::kAlways;
  double gradient_bytes = 2;
  bool reduces_whole_gradients = false;
  Seconds shard_broadcast;
  double contention = 0.5;
};
template <>
struct Schema<FrameworkExchange> {
  static constexpr auto fields = std::tuple{
      Of("network_share", &FrameworkExchange::network_share, "Share of the network between nodes that collectives of a step reach")
          .Above(0)
          .AtMost(1),
      Of("tensor_overlap", &FrameworkExchange::tensor_overlap,
         "Tensor parallel exchange runs in chunks behind the products, with sequence parallelism"),
      Of("tensor_exposed", &FrameworkExchange::tensor_exposed, "Share of it that still shows then").Between(0, 1),
      Of("pipeline_overlap", &FrameworkExchange::pipeline_overlap, "Sends between interleaved stages run behind compute"),
      Of("pipeline_exposed", &FrameworkExchange::pipeline_exposed, "Share of them that still shows then").Between(0, 1),
      Of("pipeline_scale", &FrameworkExchange::pipeline_scale, "Sends over a plain send and receive").Between(1, 16),
      Of("scatters_sends", &FrameworkExchange::scatters_sends, "Tensor parallel ranks each send their share of a stage's output"),
      Of("gradient_overlap", &FrameworkExchange::gradient_overlap, "When gradients are reduced behind the backward pass"),
      Of("gradient_bytes", &FrameworkExchange::gradient_bytes, "Bytes a gradient travels in").Between(0.5, 8),
      Of("reduces_whole_gradients", &FrameworkExchange::reduces_whole_gradients, "All-reduce even where the optimizer is sharded"),
      Of("shard_broadcast", &FrameworkExchange::shard_broadcast,
         "Updated weights: each rank's share is broadcast in turn, over more than eight ranks; cost of one")
          .In(kMs)
          .Between(0, 1e4),
      Of("contention", &FrameworkExchange::contention, "Compute lost while communication runs beside it, over the communication's time")
          .Between(0, 1)};
};

struct FrameworkMemory {
  double weights = 2;
  double weights_fp8 = 2;
  double frozen_weights_fp8 = 1;
  bool weights_are_master = false;
  double gradients = 4;
  double gradients_fp8 = 2;
  double data_parallel_gradients = 0;
  double sharded_gradients = 0;
  double sharded_optimizer = 0;
  Bytes fixed_static = 0.095 * kGiB;
  double kept_hidden = 0;
  bool splits_residual = false;
  double hidden = 8;
  double gated = 6;
  double plain = 4;
  double hidden_saved_fp8 = 2;
  double gated_saved_fp8 = 1;
  double working_hidden = 0;
  double working_hidden_tensor = 0;
  double selective_kept = 1;
  double head_gathered = 0;
  double logits = 8;
  Bytes constant = 1.5 * kGiB;
  Count gathered_layers = 2;
};
template <>
struct Schema<FrameworkMemory> {
  static constexpr auto fields = std::tuple{
      Of("weights", &FrameworkMemory::weights, "Bytes a parameter of the weights").Between(0, 16),
      Of("weights_fp8", &FrameworkMemory::weights_fp8, "The same in an 8- or 4-bit recipe").Between(0, 16),
      Of("frozen_weights_fp8", &FrameworkMemory::frozen_weights_fp8, "The same of frozen weights (LoRA); in 16 bit they take 2")
          .Between(0, 16),
      Of("weights_are_master", &FrameworkMemory::weights_are_master, "The optimizer updates the weights themselves: no copy of its own"),
      Of("gradients", &FrameworkMemory::gradients, "Bytes a parameter of the gradients").Between(0, 16),
      Of("gradients_fp8", &FrameworkMemory::gradients_fp8, "The same in an 8- or 4-bit recipe").Between(0, 16),
      Of("data_parallel_gradients", &FrameworkMemory::data_parallel_gradients, "More of them where there is data parallelism")
          .Between(0, 16),
      Of("sharded_gradients", &FrameworkMemory::sharded_gradients, "More of them where the optimizer is sharded").Between(0, 16),
      Of("sharded_optimizer", &FrameworkMemory::sharded_optimizer, "More optimizer bytes a parameter of the shard").Between(0, 16),
      Of("fixed_static", &FrameworkMemory::fixed_static, "Library workspaces that stay between steps").In(kGiB).AtLeast(0),
      Of("kept_hidden", &FrameworkMemory::kept_hidden, "Bytes a token and hidden unit kept between steps").Between(0, 64),
      Of("splits_residual", &FrameworkMemory::splits_residual,
         "Tensor parallel ranks hold a share of the residual stream, with or without sequence parallelism"),
      Of("hidden", &FrameworkMemory::hidden, "Activations of a layer: bytes a token and hidden unit").Between(0, 64),
      Of("gated", &FrameworkMemory::gated, "Bytes a token and unit of a gated MLP").Between(0, 64),
      Of("plain", &FrameworkMemory::plain, "Bytes a token and unit of a plain MLP").Between(0, 64),
      Of("hidden_saved_fp8", &FrameworkMemory::hidden_saved_fp8, "Of the hidden bytes, saved where inputs are kept in 8 bit")
          .Between(0, 64),
      Of("gated_saved_fp8", &FrameworkMemory::gated_saved_fp8, "Of the MLP's bytes, saved where inputs are kept in 8 bit").Between(0, 64),
      Of("working_hidden", &FrameworkMemory::working_hidden, "Working buffers of one layer: bytes a token and hidden unit").Between(0, 256),
      Of("working_hidden_tensor", &FrameworkMemory::working_hidden_tensor, "The same with tensor parallelism (gathered inputs)")
          .Between(0, 256),
      Of("selective_kept", &FrameworkMemory::selective_kept,
         "Share of the activations that stays under selective recomputation; 1: all but the attention core")
          .Between(0, 1),
      Of("head_gathered", &FrameworkMemory::head_gathered,
         "Unsplit buffers of the output head with tensor parallelism: bytes a token and hidden unit")
          .Between(0, 256),
      Of("logits", &FrameworkMemory::logits, "Bytes a logit at the peak").Between(0, 64),
      Of("constant", &FrameworkMemory::constant, "Library buffers and what the allocator holds beyond").In(kGiB).AtLeast(0),
      Of("gathered_layers", &FrameworkMemory::gathered_layers, "Layers whose sharded weights are gathered at once").Between(0, 64)};
};

struct Framework {
  std::string preset = "megatron";
  std::string name = "Megatron-Core";
  FrameworkCompute compute;
  FrameworkExperts experts;
  FrameworkExchange exchange;
  FrameworkMemory memory;
  bool places_by_cost = false;  // layers in order until a stage has its share of the parameters' cost (head included)
  double jitter = 0.0127;
  Seconds step_overhead = 32 * kMs;
  Count lora_rank = 16;
};
template <>
struct Schema<Framework> {
  static constexpr std::string_view preset_kind = "framework";
  static constexpr auto fields = std::tuple{
      Of("preset", &Framework::preset, "Catalogue entry that the other members override"),
      Of("name", &Framework::name, "What to call it"),
      Of("compute", &Framework::compute, "Kernels, fusion and launches").Advanced(),
      Of("experts", &Framework::experts, "Mixture-of-experts layers").Advanced(),
      Of("exchange", &Framework::exchange, "Communication and what hides it").Advanced(),
      Of("memory", &Framework::memory, "What it keeps in memory").Advanced(),
      Of("places_by_cost", &Framework::places_by_cost, "Uneven stages: layers in order until each stage has its share of the cost")
          .Advanced(),
      Of("jitter", &Framework::jitter, "Slow-down of a step each time the devices double beyond eight").Between(0, 1).Advanced(),
      Of("step_overhead", &Framework::step_overhead, "Host work between steps").In(kMs).Between(0, 1e5).Advanced(),
      Of("lora_rank", &Framework::lora_rank, "Rank of low-rank adapters").Between(1, 1024).Advanced()};
};

}  // namespace slipstick
