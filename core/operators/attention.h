// Attention cores: softmax(Q·K)·V of a device's heads, forward in prefill and training, one token in decode, backward.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class AttentionPhase { kPrefill, kDecode, kBackward, kForwardBackward };
template <>
struct EnumNames<AttentionPhase> {
  static constexpr std::array<std::pair<AttentionPhase, std::string_view>, 4> names{
      {{AttentionPhase::kPrefill, "prefill"},
       {AttentionPhase::kDecode, "decode"},
       {AttentionPhase::kBackward, "backward"},
       {AttentionPhase::kForwardBackward, "forward_backward"}}};
};

// A library of kernels; auto is the engine's or the device's best.
enum class AttentionAlgorithm { kAuto, kFlash1, kFlash2, kFlash3, kUnfused };
template <>
struct EnumNames<AttentionAlgorithm> {
  static constexpr std::array<std::pair<AttentionAlgorithm, std::string_view>, 5> names{{{AttentionAlgorithm::kAuto, "auto"},
                                                                                         {AttentionAlgorithm::kFlash1, "flash1"},
                                                                                         {AttentionAlgorithm::kFlash2, "flash2"},
                                                                                         {AttentionAlgorithm::kFlash3, "flash3"},
                                                                                         {AttentionAlgorithm::kUnfused, "unfused"}}};
};

// One device's part: `heads` and `kv_heads` are those it holds. Every sequence of the batch has the same lengths.
struct Attention {
  AttentionPhase phase = AttentionPhase::kPrefill;
  double batch = 1;
  double q_len = 1;   // tokens that ask; 1 in decode
  double kv_len = 1;  // tokens that are asked, a cached prefix included
  double heads = 1, kv_heads = 1;
  double head_dim = 128;
  double value_dim = 0;  // of a value, where it differs (0: head_dim)
  bool causal = true;
  double window = 0;  // keys that a query sees at most; 0: all
  Precision precision = Precision::kBf16;
  Precision kv_precision = Precision::kBf16;  // of the cache
  AttentionAlgorithm algorithm = AttentionAlgorithm::kAuto;
  AttentionLibrary library = AttentionLibrary::kGeneric;
  bool cold = false;         // decode: the cache comes from memory whatever the last cache could hold: other layers ran in between
  bool writes_cache = true;  // serving: rotary embedding and cache write belong to the time; false for the core alone
};

// Constants of a kernel that works on tiles of 128 queries by 128 keys: prefill, training forward, backward.
struct TileKernelParameters {
  Seconds launch;              // t0
  double gemm_efficiency = 1;  // epsilon: share of the peak while the matrix units work
  double exp_share = 1;        // s: weight of an exponential; 0: a unit beside the matrix units computes them in passing
  Seconds tile_overhead;       // tau: fixed cost of a tile of queries
  double tail = 0;             // g: share of the longest tile of queries left over at the end
  bool in_fp8 = false;         // computes in fp8, whatever the operands are given in
  bool fused_pass = true;      // rotary embedding, cache write and quantisation: all operands once; false: the cache's alone
  double pass_factor = 1;      // q: how often those bytes move
};
TileKernelParameters IsolatedKernelParameters(const Attention& attention, const Device& device);

// Mean error: prefill 4.7 % over 3,325 rows of seven NVIDIA systems and two engines, FlashAttention forward and backward 2 to
// 6 % over 130.
KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters, Trace& trace);

// Constants of a decode kernel that splits each sequence's cache over units (split-KV).
struct DecodeKernelParameters {
  double units_filled = 1;          // kappa: work units that a unit takes at once
  double max_splits = 256;          // c_max
  double min_split = 512;           // L: tokens of a split at least
  Seconds launch;                   // t0
  BytesPerSecond unit_stream;       // b: that one work unit can pull; 0: no limit
  Seconds merge, merge_a_split;     // r0, r1
  Seconds wave;                     // tau: starting a further wave
  double bandwidth_efficiency = 1;  // u_d·upsilon: of the memory bandwidth, on a large cache
  double gemm_efficiency = 1;       // of the peak
};
DecodeKernelParameters IsolatedDecodeParameters(const Attention& attention, const Device& device);
// Mean error 6.1 % over 1,774 rows (17.4 % with one set of constants for all kernels).
KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters, Trace& trace);

// Attention by two batched products and a softmax that writes the scores to memory.
struct UnfusedKernelParameters {
  Seconds launch;
  double gemm_efficiency = 1;       // of the peak
  double score_passes = 0;          // times a score goes to memory and back, forward and backward together
  double forward_share = 1;         // of those passes
  double bandwidth_efficiency = 1;  // of the memory bandwidth
};
UnfusedKernelParameters IsolatedUnfusedParameters(const Attention& attention, const Device& device);
// Mean error 10 to 11 % over PyTorch's rows on A100 and H100.
KernelTime TimeOf(const Attention& attention, const Device& device, const UnfusedKernelParameters& parameters, Trace& trace);

// By phase and algorithm, as a benchmark runs it.
KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace);

// Multi-head latent attention: prefill on expanded keys and values, causal; decode on the latent with absorbed weights.
struct LatentAttention {
  AttentionPhase phase = AttentionPhase::kPrefill;  // prefill or decode
  double batch = 1, q_len = 1, kv_len = 1;
  double heads = 128;
  double kv_lora_rank = 512, rope_head_dim = 64, nope_head_dim = 128, value_head_dim = 128;
  Precision precision = Precision::kBf16;
  Precision kv_precision = Precision::kBf16;
  AttentionLibrary library = AttentionLibrary::kGeneric;
};
// Mean error: prefill 2 to 4.5 %, decode 7 to 11 % on Hopper and Blackwell.
KernelTime TimeOf(const LatentAttention& mla, const Device& device, Trace& trace);

// Time to read bytes of a working set that the last cache may hold: none of it comes from memory while the set fits the
// usable share of the cache, all of it from one and a half times that.
Seconds ReadTime(Bytes bytes, Bytes working_set, double memory_share, const Device& device);

}  // namespace slipstick
