// Attention cores: softmax(Q·K)·V of a device's heads, forward in prefill and training, one token in decode, backward.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/software/kernels.h"
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
  AttentionKernel kernel = AttentionKernel::kGeneric;
  bool writes_cache = true;  // serving: rotary embedding and cache write belong to the time; false in training
};

// Constants of a forward or backward kernel that works on tiles of 128 queries by 128 keys.
struct TileAttentionRegime {
  Seconds launch;             // t0
  double matrix_share = 0.5;  // epsilon: share of the peak while the matrix units work
  double exp_share = 1;       // s: part of the exponentials that the matrix work does not hide
  Seconds tile_overhead;      // tau: fixed cost of a tile of queries
  double tail = 0;            // g: share of the longest tile of queries left over at the end
  double pass_factor = 0;     // q: cache-write passes over the operands, as the kernel family counts them
  double power_fall = 0;      // of the matrix rate, in a long run
  bool cold = false;          // operands come from memory whatever the cache holds
};
TileAttentionRegime AloneRegime(const Attention& attention, const Device& device);
// Inside a training step: efficiencies of the device's training kernels at sustained power, nothing left in cache.
TileAttentionRegime TrainingRegime(const Attention& attention, const Device& device);

// Time of the core. Prefill, backward and forward_backward; decode and unfused take their constants from the kernel family.
// Mean error: prefill 4.6 % over 2,941 rows of seven NVIDIA systems and three engines (6.9 % with a class's defaults),
// decode 6.1 % over 1,774 (17.4 %), FlashAttention forward and backward 2 to 6 % over 100.
KernelTime TimeOf(const Attention& attention, const Device& device, const TileAttentionRegime& regime, Trace& trace);
KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace);

// Multi-head latent attention: prefill on expanded keys and values, causal; decode on the latent with absorbed weights.
struct Mla {
  AttentionPhase phase = AttentionPhase::kPrefill;  // prefill or decode
  double batch = 1, q_len = 1, kv_len = 1;
  double heads = 128;
  double kv_lora_rank = 512, rope_head_dim = 64, nope_head_dim = 128, value_head_dim = 128;
  Precision precision = Precision::kBf16;
  Precision kv_precision = Precision::kBf16;
  AttentionKernel kernel = AttentionKernel::kGeneric;
};
// Mean error: prefill 2 to 4.5 %, decode 7 to 11 % on Hopper and Blackwell.
KernelTime TimeOf(const Mla& mla, const Device& device, Trace& trace);

// Time to read bytes of a working set that the last cache may hold: none of it comes from memory while the set fits the
// usable share of the cache, all of it from one and a half times that.
Seconds ReadTime(Bytes bytes, Bytes working_set, double memory_share, const Device& device);

}  // namespace slipstick
