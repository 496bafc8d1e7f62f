// Fitted constants of the kernels of an accelerator family: one file of core/presets/kernels each, read once. A family
// states its own constants and inherits the others from the family named as its preset, at last from the generic one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"

namespace slipstick {

// Hardware structure of the family, as far as the formulas depend on it.
struct KernelTraits {
  bool tiled = true;  // output tiles on many small units (SMs); false: few large matrix engines
  // tensor cores fed in the background (wgmma, tcgen05): attention comes close to the peak
  bool asynchronous_mma = false;
  bool has_l2 = true;           // the last level before DRAM is a cache; false: a scratchpad managed by software
  Bytes l2_bytes_per_clock;     // from L2 into one SM
  Ratio l2_over_memory = 0;     // lower bound on L2 bandwidth over memory bandwidth
  Ratio l2_efficiency = 0;      // lower bound on the fraction of a stated L2 bandwidth that hits reach
  Ratio threads_per_clock = 1;  // issued per SM
  Ratio mma_rows = 1;           // rows that a matrix unit computes together; 1: vector units, no padding
  Ratio decode_query_rows = 1;  // query rows of a decode kernel that are computed together and share a key
  // outputs whose operands are fetched from L2 together: the largest tile, or several tiles that share loads
  Ratio l2_rows = 1, l2_columns = 1;
  Ratio fragment_rows = 1, fragment_columns = 1;  // outputs per operand that the tensor cores read from shared memory
};

// GEMMs of one pair of operand precisions.
struct GemmRow {
  Ratio gemm_efficiency = 1;       // rho: relative to the 16-bit kernels
  Ratio bandwidth_efficiency = 1;  // r_b: relative to the 16-bit kernels
  Seconds step_latency;            // kappa: lower bound per 64 inputs of a tile
  bool has_split_k = true;         // split-K kernels exist
  bool columns_by_96 = false;      // tiles of 96 and 192 columns exist
  bool columns_by_32 = false;      // tiles of 32 columns exist
  Bytes drain_per_clock;     // outputs of a tile that an SM writes per clock after its k loop; 0: beside the next tile
  Ratio quantize_bytes = 0;  // c_q: per activation element, moved by the quantizing pass
  Ratio quantize_efficiency = 1;                   // e_q: bandwidth efficiency of that pass relative to streaming
  Seconds extra_overhead;                          // t_q: of a separate quantizing kernel, or of converting the weights
  std::optional<Seconds> extra_overhead_few_rows;  // of the kernels for few rows, if it differs
  bool always_extra_overhead = false;              // paid even if the activations are already quantized
  Ratio convert_per_clock = 0;                     // weights converted per clock and SM; 0: no conversion
};

// Reuse of data that an earlier kernel left in L2.
struct L2Reuse {
  Ratio activations = 0;                   // L2 capacities that keep half of the activations between kernels
  Ratio quantized_activations = 0;         // the same, between the quantizing pass and the GEMM after it
  Ratio min_weights = 0, max_weights = 0;  // bounds of the L2 fraction that reused weights may fill
  Ratio usable_over_min = 1;               // usable L2 fraction divided by what it adds to min_weights
  Ratio falloff = 1;                       // L2 capacities between finding all weights and finding none
  Ratio no_reuse_from = 1;                 // operand size, in L2 capacities, from which no operand is found again
  Ratio reread_factor = 1;                 // operand rereads relative to the minimum of the resident tiles
};

struct GemmTable {
  std::string source;
  GemmRow sixteen_bit, fp8_tensor, fp8_block, four_bit_float, int8, int8_weights, int4_weights;
  Ratio few_rows = 0;                // largest m of the kernels for few rows
  Ratio grouped_bandwidth_gain = 1;  // bandwidth efficiency of grouped GEMMs relative to single ones
  Seconds derating_ramp;             // kernel time at which half of the clock derating is reached
  Seconds pass_derating_ramp;        // the same, in a pass of many kernels
  Seconds training_launch_latency;   // per kernel in a training step
  Ratio serving_quantize_bytes = 0;  // c_q of fp8 in a serving step: the preceding kernel finds the scale
  Bytes copy_bytes_per_clock;        // asynchronous copies into one SM
  Ratio tile_load = 0;               // rows or columns of a tile that take as long to load as to compute
  Seconds fill;                      // time to fill and drain a tile
  Seconds split_k_merge;             // fixed time of the kernel that adds the partial sums of split-K
  Ratio overlap = 1;                 // p of the norm of compute and memory time: 1 is their sum, infinity their maximum
  L2Reuse l2;
};

// Prefill attention of one kernel library.
struct PrefillRow {
  Seconds launch;                // t0
  Ratio mma_efficiency = 1;      // epsilon: fraction of the peak while the tensor cores work
  Ratio mma_efficiency_fp8 = 1;  // the same when computing in fp8
  // on mma_efficiency, for fp8 operands of heads up to 64 wide, where a 16-bit kernel stands in; 0: fp8 kernel
  Ratio narrow_head_factor_fp8 = 0;
  Ratio exp_weight = 1;              // s: time weight of an exponential; 0: hidden by the tensor cores
  Seconds tile_overhead;             // tau: per tile of queries
  Ratio tail = 0;                    // g: fraction of the longest tile of queries left over at the end
  bool fp8_kv_cache_in_fp8 = false;  // an fp8 KV cache makes the kernel convert 16-bit queries to fp8, too
  bool fused_pass = true;            // rotary embedding and KV-cache write inside the attention call
  Ratio passes = 1, passes_fp8 = 1;  // q: times the KV-cache bytes move before attention, for 16-bit and fp8 caches
};
struct PrefillTable {
  PrefillRow generic;  // for libraries without a row
  std::optional<PrefillRow> flashinfer;
};

// Decode attention, by split-KV kernels.
struct DecodeRow {
  Ratio blocks_per_sm = 1, max_splits = 1, min_split_tokens = 1;
  Seconds launch, merge, merge_per_split, wave_launch;
};

// Attention core of training, timed in isolation.
struct CoreRow {
  Ratio mma_efficiency = 1;
  Ratio mma_efficiency_fp8 = 0;  // 0: no fp8 kernel
  Ratio exp_weight = 1;
  Seconds tile_overhead;
  // on the rate, for heads of more than 256 bytes: fewer keys per tile, one warp group less to hide latency
  Ratio wide_head_factor = 1;
};
struct CoreKernels {
  CoreRow forward;
  std::optional<CoreRow> backward;  // also for forward and backward together
};

// Unfused attention: two batched GEMMs and a softmax, with the scores in memory.
struct UnfusedRow {
  Seconds launch;
  Ratio gemm_efficiency = 1;       // fraction of the peak
  Ratio bandwidth_efficiency = 1;  // fraction of the memory bandwidth
  Ratio passes = 0;                // memory round trips per score, forward and backward together
  Ratio passes_causal = 0;         // the same under a causal mask, which is read and written, not skipped
  Ratio forward_fraction = 0.5;    // of the passes
};

// Attention core inside a training step; its tensor-core efficiencies are the framework's or the device's.
struct StepCoreTable {
  std::string source, unfused_source;
  Seconds tile_overhead;              // tau: per tile of queries
  Ratio backward_tile_factor = 1;     // tile overhead of backward over forward
  Ratio operand_passes = 1;           // times that operands and output pass through memory, forward
  Ratio backward_bytes_factor = 1;    // bytes moved by backward over forward
  Seconds launch, backward_launch;    // per block of a context-parallel ring
  Ratio unfused_gemm_efficiency = 1;  // batched GEMMs over the device's GEMM efficiency, for heads at least 128 wide
  Ratio unfused_full_width = 1;       // head width from which batched GEMMs reach that efficiency
  Ratio unfused_bandwidth_efficiency = 1;  // of the passes over the scores
};

struct AttentionTable {
  std::string source, decode_source;
  Ratio tile = 1;     // queries, and keys, of a tile: on the diagonal of a causal mask it is computed in full
  Ratio overlap = 1;  // p of the norm of compute and memory time
  Ratio exponential_overlap = 1;  // p of the norm of a tile's GEMMs and exponentials
  PrefillTable prefill;
  DecodeRow decode;
  Ratio decode_mma_efficiency = 1;                    // epsilon: fraction of the peak while the tensor cores work
  std::optional<CoreKernels> flash1, flash2, flash3;  // FlashAttention versions, for training
  CoreRow backward;  // backward pass of the family's own kernels; their forward pass is the generic prefill
  Seconds core_launch_latency;
  Ratio bandwidth_efficiency = 1;  // fraction of the memory bandwidth
  UnfusedRow unfused;
  StepCoreTable step;
};

struct LatentPrefillRow {
  Seconds launch;
  Ratio mma_efficiency = 1, mma_efficiency_fp8 = 1, exp_weight = 1;
  Seconds tile_overhead;
  Ratio tail = 0, passes = 1, passes_fp8 = 1;
};
struct LatentDecodeRow {
  bool has_split_kv = true;  // split-K kernels exist
  Seconds launch;
  Ratio bandwidth_efficiency = 1, mma_efficiency = 1, mma_efficiency_fp8 = 1;
  Seconds merge_per_split, wave_launch;  // with split-KV
  Seconds per_token;                     // without split-KV: time per token of the walk
  Ratio overlap = 1;                     // p of the norm of compute and memory time
  Flops grouped_per_clock;               // most of an SM per clock in Triton's kernel; 0: the 16-bit peak
};
// Sparse latent attention: an indexer's scores, selection of the best tokens, attention to their latents.
struct SparseLatentRow {
  std::string source;
  Seconds launch;                   // of each of the three kernels
  Ratio score_efficiency = 1;       // fraction of the fp8 peak
  Ratio selection_efficiency = 1;   // fraction of the memory bandwidth
  Ratio mma_efficiency = 1;         // of attention, fraction of the 16-bit peak
  Ratio mma_efficiency_narrow = 1;  // the same in decode from an 8-bit KV cache, which the kernel converts first
  Ratio head_block = 64;            // query heads are padded to a multiple of this
  bool heads_in_columns = false;    // there is a second kernel, for few heads: 16 per block, no conversion of the cache
  bool scaled_rows = false;         // rows of an 8-bit KV cache hold scales, and their rotary part in 16 bit (FlashMLA)
};
struct LatentTable {
  std::string source;
  LatentPrefillRow prefill;
  LatentDecodeRow decode;
  SparseLatentRow sparse;
  Ratio bandwidth_efficiency = 1;  // fraction of the memory bandwidth
};

// Constants that a library states for one pair of operand precisions.
struct ExpertRow {
  std::optional<Seconds> launch;            // t0, replaces the table's
  Seconds expert;                           // t_e: per expert on the device, whether or not tokens reach it
  std::optional<Ratio> permute_efficiency;  // e_v, replaces the table's
  std::optional<Ratio> gemm_efficiency;     // relative to the 16-bit kernels; replaces the ratio of a single product
  Ratio bandwidth_efficiency = 1;           // for the weights, relative to a single product
};
struct ExpertKernels {
  std::optional<ExpertRow> sixteen_bit, fp8_tensor, fp8_block, four_bit_float, eight_by_four;
};
struct ExpertTable {
  std::string source;
  Seconds launch;                // t0: of the kernels of a layer
  Ratio permute_efficiency = 1;  // e_v: bandwidth efficiency of permute and combine relative to streaming
  Seconds step_latency;          // kappa
  Ratio bandwidth_gain = 1;      // factor on the device's bandwidth efficiency, for weights, permute and combine
  Ratio kept_l2 = 0;             // c: L2 capacities that keep half of the operands between kernels
  // v: coefficient of variation, over the experts, of how often a serving step's tokens choose them
  Ratio routing_preference = 0;
  ExpertKernels trtllm;  // also used for the other library if that states no row
  ExpertKernels flashinfer;
};

// Kernels with one pass over the rows: norms, rotary embedding, activations, softmax, residual additions.
struct RowwiseTable {
  std::string source;
  Ratio launch_factor = 1;         // factor on a GEMM's launch latency, which is longer
  Ratio bandwidth_efficiency = 1;  // fraction of the memory bandwidth
  Bytes bytes_per_thread_clock;    // i: per thread and clock; 0: no limit
  Ratio kept_l2 = 0;               // c: L2 capacities that keep half of the operands between kernels
  Seconds column_latency;          // s_r: latency of a block that walks along one row
};

// Recurrence of a linear-attention layer: convolution, chunks, states.
struct RecurrenceTable {
  std::string source;
  Ratio gemm_efficiency = 1, vector_efficiency = 1;  // fraction of the GEMM peak; of the vector units' peak
  Ratio overlap = 1;                                 // p of the norm of compute and memory time
};

// Estimates of costs around the kernels of a step.
struct StepTable {
  std::string source;
  Seconds pair_launch;        // of the two tensor-parallel collectives around a block
  Seconds round_launch;       // of a round of a context-parallel ring
  Ratio ring_hidden = 0;      // fraction of the attention core that can hide a ring's transfers
  Seconds quantize_launch;    // of a pass that quantizes an operand
  Seconds send_launch;        // serving: start of a send to another pipeline stage or pool, including its launch
  Ratio send_efficiency = 1;  // of such a send: fraction of the link bandwidth
  Ratio absorbed_gemm_efficiency = 1;  // serving: of the batched GEMMs that absorb an up-projection of MLA
  Ratio active_power = 0;              // share of the TDP that a device draws while it runs kernels, whatever they do
};

// All-reduce of serving engines, whose ranks read their peers' memory.
struct PeerReduceTable {
  std::string source;
  Seconds start, peer;        // base latency; of the barrier, per peer
  Ratio link_efficiency = 1;  // share of the link bandwidth
};

// Dispatch or combine of expert tokens by dedicated kernels.
struct LowLatencyRow {
  Seconds setup;            // per call
  Seconds per_256_experts;  // time for the counters of 256 experts
  Ratio link_efficiency = 1, nic_efficiency = 1;
  Seconds internode;  // added when leaving the node
};
struct NormalRow {
  Seconds setup;
  Ratio link_efficiency = 1;
  BytesPerSecond sm_rate;  // of one SM
  Ratio nic_efficiency = 1;
  Seconds per_node;
};
struct DomainRow {  // one-sided kernels inside one scale-up domain
  Seconds setup, per_doubling;
  Ratio link_efficiency = 1;
};
struct ExpertExchangeTable {
  std::string source, domain_source;
  LowLatencyRow low_latency;
  NormalRow normal;
  DomainRow domain;
};

// Rules for a device of which only the data sheet is known.
// Rate loss by energy per FLOP at the power limit: clamp(no_loss / energy, min_time, max_time) - 1.
struct PowerFall {
  JoulesPerFlop no_loss;  // energy per FLOP from which on the clock does not drop
  double min_time = 1, max_time = 1;
};
struct RuleTexts {
  std::string gemm_efficiency, gemm_efficiency_fp8, sustained_clock_derating, rated_power, bandwidth_efficiency,
      launch_latency, attention_forward, attention_backward, decode_bandwidth_efficiency, l2_bandwidth,
      usable_l2_fraction, usable;
};
struct DataSheetRules {
  double min_gemm_efficiency = 1, max_gemm_efficiency = 1;  // fraction of the dense peak
  JoulesPerFlop max_gemm_energy;                            // energy per FLOP from which the maximum applies
  double gemm_efficiency_fp8 = 1;                           // relative to the 16-bit efficiency
  PowerFall sustained;
  std::optional<double> sustained_clock_derating;  // replaces the rule
  double min_bandwidth_efficiency = 1, max_bandwidth_efficiency = 1;
  BytesPerSecond min_efficiency_bandwidth;  // memory bandwidth from which the minimum applies
  Seconds launch_latency;
  double decode_bandwidth_efficiency = 1;
  double attention_forward = 1, attention_backward = 1, attention_exponentials = 1;
  double l2_over_memory = 1;
  BytesPerSecond min_l2_bandwidth;
  double usable_l2_fraction = 1;
  double usable = 1;
  RuleTexts texts;
};

struct KernelFamily {
  std::string id;      // the name by which a device refers to it
  std::string preset;  // the family that the fields below override
  std::string name;
  KernelTraits traits;
  DataSheetRules data_sheet;
  GemmTable gemm;
  AttentionTable attention;
  LatentTable latent;
  ExpertTable experts;
  RowwiseTable rowwise;
  RecurrenceTable recurrence;
  StepTable step;
  PeerReduceTable peer_reduce;
  ExpertExchangeTable expert_exchange;
};

}  // namespace slipstick
