// What is fitted about the kernels of a family of accelerators: a file of core/presets/kernels each, read once. A family states
// what is its own; the rest is that of the family which it names as its preset, in the end of the generic one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/field.h"

namespace slipstick {

// What the kernels of a family are like, as far as formulas ask.
struct KernelTraits {
  bool tiled = true;              // many small units that take one output tile each; false: few large matrix engines
  bool asynchronous_mma = false;  // matrix units fed in the background (wgmma, tcgen05): attention comes near the peak
  bool cached = true;             // the last memory before DRAM is a cache; false: scratchpad that software fills
  Bytes cache_feed;               // out of the last cache into a unit, a clock
  double cache_over_memory = 0;   // rate of the last memory before DRAM, over the memory's, at least
  double lanes = 1;               // threads that a unit issues for in a clock
  double row_grain = 1;           // rows that a matrix unit computes together; 1: plain units, which compute no row in vain
  double query_rows = 1;          // query rows that a decode kernel computes together
};

// Matrix products of one pairing of precisions.
struct GemmRow {
  double matrix = 1;               // rho: share of the 16-bit kernels' efficiency
  double stream = 1;               // r_b: the same of the memory stream
  Seconds step_latency;            // kappa
  bool splits = true;              // whether split-K exists
  bool columns_by_96 = false;      // whether tiles of 96 and 192 columns exist
  double quantize_bytes = 0;       // c_q
  double quantize_efficiency = 1;  // e_q
  Seconds extra;                   // t_q
  Seconds extra_few_rows;          // the same with few rows, where another kernel runs
  bool always_extra = false;       // the conversion is part of the kernel whoever quantises
  double convert_per_clock = 0;    // weights brought to the arithmetic's format, elements a clock and unit; 0: none
};

// Data that one kernel leaves in the last cache for the next.
struct CacheReuse {
  double activations = 0;      // last caches that keep half of the activations between kernels
  double quantized = 0;        // the same between a product and the pass that quantises for it
  double least = 0, most = 0;  // of the last cache, that weights which are used again may fill
  double over_share = 1;       // of the share in which data read again is found, over what it adds to the least
  double fall = 1;             // from all weights found to none, of the last cache
  double missed_from = 1;      // last caches from which no operand that is read again is found
  double read_again = 1;       // operands read again over what resident tiles need
};

struct GemmTable {
  std::string source;
  GemmRow sixteen_bit, fp8_tensor, fp8_block, four_bit_float, int8, int8_weights, int4_weights;
  double few_rows = 0;          // up to which kernels for few rows run
  double grouped_stream = 1;    // of the weights of a group of products, over that of one
  Seconds power_ramp;           // length of a kernel at which half of the fall of the rate has come
  Seconds training_power_ramp;  // the same in a training step
  Seconds training_launch;      // fixed cost of a kernel in a training step
  double serving_quantize = 0;  // c_q of fp8 in a serving step: the kernel before finds the scale
  Bytes feed;                   // that asynchronous copies bring a unit in a clock
  double tile_load = 0;         // rows or columns of a tile that load as long as they compute
  Seconds fill;                 // of filling and draining a tile
  Seconds merge;                // of the kernel that adds the partial sums of split-K
  CacheReuse cache;
};

// Attention of a prefill in one library's kernels.
struct PrefillRow {
  Seconds launch;         // t0
  double matrix = 1;      // epsilon
  double matrix_fp8 = 1;  // the same where the kernel computes in fp8
  double narrow = 1;      // of `matrix`, on heads up to 64 wide: more blocks fit a unit
  double narrow_fp8 =
      0;  // the same of fp8 operands, where no fp8 kernel takes such heads and a 16-bit one steps in; 0: the fp8 kernel does
  double exponentials = 1;            // s: weight of an exponential; 0: a unit beside the matrix units computes them in passing
  Seconds tile;                       // tau
  double tail = 0;                    // g
  bool fp8_cache_in_fp8 = false;      // an fp8 cache makes 16-bit queries fp8 too
  bool fused_pass = true;             // rotary embedding and cache write inside the attention call
  double passes = 1, passes_fp8 = 1;  // q: of the cache's bytes, 16-bit and fp8 cache
};
struct PrefillTable {
  PrefillRow generic;  // of any library without a row of its own
  std::optional<PrefillRow> trtllm, flashinfer;
};

enum class Sharing { kGrouped, kEvery };  // query heads share a KV head; every one has its own
template <>
struct EnumNames<Sharing> {
  static constexpr std::array<std::pair<Sharing, std::string_view>, 2> names{{{Sharing::kGrouped, "grouped"}, {Sharing::kEvery, "every"}}};
};

// Attention of a decode step. A row holds where its conditions do.
struct DecodeRow {
  std::optional<Sharing> sharing;
  std::optional<Count> cache_bits;  // 16 or 8, of the KV cache
  bool narrow = false;              // only heads up to 64 wide, where other kernels run
  double units_filled = 1, max_splits = 1, min_split = 1;
  Seconds launch;
  BytesPerSecond unit_stream;  // 0: no limit
  Seconds merge, merge_a_split, wave;
  double stream = 1;
};
struct DecodeTable {  // the first row that holds; without one, the first of the generic ones
  std::vector<DecodeRow> trtllm, flashinfer, generic;
};

// The attention core of training, timed alone.
struct CoreRow {
  double matrix = 1;
  double matrix_fp8 = 0;  // 0: no fp8 kernel
  double exponentials = 1;
  Seconds tile;
  double wide = 1;  // of the rate, on heads of more than 256 bytes: fewer keys a tile, one group of warps less to hide behind
};
struct CoreKernels {
  CoreRow forward;
  std::optional<CoreRow> backward;  // and of forward and backward together
};

// Attention by two batched products and a softmax that writes the scores to memory.
struct UnfusedRow {
  Seconds launch;
  double matrix = 1;         // of the peak
  double stream = 1;         // of the memory bandwidth
  double passes = 0;         // times a score goes to memory and back, forward and backward together
  double passes_causal = 0;  // the same under a mask, which is read and written, not skipped
  double forward = 0.5;      // of the passes
};

// The attention core inside a training step, whose matrix rates are the framework's or the device's own.
struct StepCoreTable {
  std::string source, unfused_source;
  Seconds tile;                     // of loading, draining and writing a tile of queries
  double backward_tile = 1;         // over that
  double backward_bytes = 1;        // moved backward over forward
  Seconds launch, backward_launch;  // of every block of a context-parallel ring
  double unfused_matrix = 1;        // of the device's share of the peak, by batched products of heads from 128 wide
  double unfused_stream = 1;        // of the memory bandwidth, by the passes over the scores
};

struct AttentionTable {
  std::string source, decode_source;
  PrefillTable prefill;
  DecodeTable decode;
  double decode_matrix = 1;                           // of the peak, in decode
  std::optional<CoreKernels> flash1, flash2, flash3;  // libraries of training
  CoreRow backward;                                   // of the family's own kernels, whose forward pass is the generic prefill's
  Seconds core_launch;
  double stream = 1;  // of the memory bandwidth, by a kernel's own operands
  UnfusedRow unfused;
  StepCoreTable step;
};

struct LatentPrefillRow {
  Seconds launch;
  double matrix = 1, matrix_fp8 = 1, exponentials = 1;
  Seconds tile;
  double tail = 0, passes = 1, passes_fp8 = 1;
};
struct LatentDecodeRow {
  bool splits = true;  // split-KV kernel; false: a unit walks a sequence's whole cache
  Seconds launch;
  double stream = 1, matrix = 1, matrix_fp8 = 1;
  Seconds merge_a_split, wave;  // with splits
  Seconds token;                // without: a token of one walk
};
struct LatentTable {
  std::string source;
  LatentPrefillRow prefill;
  LatentDecodeRow decode;
  double stream = 1;  // of the memory bandwidth, by the operands of a prefill
};

// A layer of experts of one pairing of precisions.
struct ExpertRow {
  Seconds launch;        // t_moe
  double move = 1;       // e_v
  double matrix = 1;     // rho
  Seconds step_latency;  // kappa
  double stream = 1;     // r_b
};
struct ExpertKernels {
  std::optional<ExpertRow> sixteen_bit, fp8_tensor, fp8_block, four_bit_float, eight_by_four, int8, int8_weights, int4_weights;
};
// What differs inside a serving step.
struct ServingExperts {
  double four_bit_matrix = 1,
         four_bit_move = 1;  // neither of a benchmark's two kernels runs alone: rate of the large one, stream of the small one
  double fp8_move = 1;
  Seconds narrow_step;  // kappa of 8 and 4 bit: the kernel before finds the scales
  double spread = 1;    // sigma: real routing repeats itself
};
struct ExpertTable {
  std::string source;
  ExpertKernels trtllm;  // complete: what the other library does not have is TensorRT-LLM's
  ExpertKernels flashinfer;
  double stream = 1;  // over the device's own, of weights and moves
  double kept = 0;    // last caches that keep half of what is permuted and combined
  ServingExperts serving;
};

// A kernel that goes over rows once.
struct RowwiseRow {
  double launch = 1;       // of a matrix product's launch, which is the longer
  double stream = 1;       // u
  Bytes lane_bytes;        // i: that a lane moves a clock; 0: no limit
  double kept = 0;         // c
  Seconds column_latency;  // s_r
};
struct RowwiseTable {
  std::string source;
  RowwiseRow norm, rope, add, gelu, gated_gelu, softmax;
};

// Dispatch of tokens to their experts, or their combination, by dedicated kernels.
struct LowLatencyRow {
  Seconds setup, experts;  // of a call; of 256 experts' counters
  double link = 1, nic = 1;
  Seconds node, cast;  // of leaving the node; of quantising a token of 4,096 elements
};
struct NormalRow {
  Seconds setup;
  double link = 1;
  BytesPerSecond unit_rate;  // of one SM
  double nic = 1;
  Seconds node;
};
struct DomainRow {  // of one-sided kernels
  Seconds setup, step;
  double link = 1, own_cost = 0;  // what a byte that stays costs, over a byte at the link's full bandwidth
};
struct ExpertExchangeTable {
  std::string source, domain_source;
  LowLatencyRow low_latency_dispatch, low_latency_combine;
  NormalRow normal_dispatch, normal_combine;
  DomainRow domain_dispatch, domain_combine;
};

// Rules for a device of which only the data sheet is known.
struct PowerClass {  // of devices by the energy that a FLOP may take at the power limit
  JoulesPerFlop above;
  JoulesPerFlop none;  // from which nothing falls
  double least = 1, most = 1;
};
struct LaunchFrom {
  Count year = 0;
  Seconds launch;
};
struct DecodeOfMemory {
  std::string technology;  // that the memory's name contains; "": any
  double share = 1;
};
struct RuleTexts {
  std::string gemm_efficiency, gemm_efficiency_fp8, clock_derating, sustained_clock_derating, rated_power, bandwidth_efficiency,
      launch_latency, attention_forward, attention_backward, decode_bandwidth_efficiency, l2_bandwidth, usable_l2_fraction, usable;
};
struct DataSheetRules {
  double matrix_least = 1, matrix_most = 1;  // share of the dense peak
  JoulesPerFlop matrix_energy;               // from which it is the most
  double matrix_fp8 = 1;                     // over that of 16 bit
  PowerClass clock_derating;
  std::vector<PowerClass> sustained;               // the first that holds
  std::optional<double> sustained_clock_derating;  // in place of them
  double stream_least = 1, stream_most = 1;
  BytesPerSecond stream_bandwidth;            // up to which it is the most, times least over most
  std::vector<LaunchFrom> launch;             // the first whose year is not later than the device's
  std::vector<DecodeOfMemory> decode_stream;  // the first that fits
  double attention_forward = 1, attention_backward = 1, attention_exponentials = 1;
  double cache_over_memory = 1;
  BytesPerSecond cache_least;
  double cache_share = 1;
  double usable = 1;
  RuleTexts texts;
};

struct KernelFamily {
  std::string id;      // the name that a device gives
  std::string preset;  // the family that the other members override
  std::string name;
  KernelTraits traits;
  DataSheetRules data_sheet;
  GemmTable gemm;
  AttentionTable attention;
  LatentTable latent;
  ExpertTable experts;
  RowwiseTable rowwise;
  ExpertExchangeTable expert_exchange;
};

}  // namespace slipstick
