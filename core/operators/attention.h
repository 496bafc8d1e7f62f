// Attention cores, softmax(Q·K)·V over a device's heads: prefill, training forward and backward, decode.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/attention_core.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class AttentionPhase { kPrefill, kDecode, kBackward, kForwardBackward };
ENUM_NAMES(AttentionPhase, {kPrefill, "prefill"}, {kDecode, "decode"}, {kBackward, "backward"},
           {kForwardBackward, "forward_backward"});

// Kernel library; auto: the engine's, or the device's best.
enum class AttentionAlgorithm { kAuto, kFlash1, kFlash2, kFlash3, kUnfused };
ENUM_NAMES(AttentionAlgorithm, {kAuto, "auto"}, {kFlash1, "flash1"}, {kFlash2, "flash2"}, {kFlash3, "flash3"},
           {kUnfused, "unfused"});

// One device: `heads` and `kv_heads` are those it holds. All sequences of the batch have the same lengths.
struct Attention {
  AttentionPhase phase = AttentionPhase::kPrefill;
  Ratio batch = 1;
  Ratio q_len = 1;   // query length; 1 in decode
  Ratio kv_len = 1;  // KV length, including a cached prefix
  Ratio heads = 1, kv_heads = 1;
  Ratio head_dim = 128;
  Ratio value_dim = 0;  // 0: head_dim
  bool causal = true;
  Ratio window = 0;  // sliding window: KV length limit per query; 0: none
  Precision precision = Precision::kBf16;
  Precision kv_precision = Precision::kBf16;  // of the KV cache
  AttentionAlgorithm algorithm = AttentionAlgorithm::kAuto;
  AttentionLibrary library = AttentionLibrary::kGeneric;
  // decode: the KV cache is read from memory even if it fits in L2, because other layers ran in between
  bool cold = false;
  // Of an element of the KV cache, and of one that is computed with, as what chose the formats; 0: of the formats.
  Bytes kv_element{}, row_element{};
  bool writes_kv_cache = true;  // serving: the time includes rotary embedding and KV-cache write; false: the core alone
};
// Elements of a value per head.
inline Ratio ValueDim(const Attention& attention) {
  return attention.value_dim > 0 ? attention.value_dim : attention.head_dim;
}

TileKernelParameters IsolatedKernelParameters(const Attention& attention, const Device& device);
// The format that such a kernel computes in.
Precision ComputedIn(const Attention& attention, const TileKernelParameters& parameters, const Device& device);

// Mean error: prefill 4.7 % over 3,325 measurements on seven NVIDIA systems and two engines; FlashAttention forward and
// backward 2 to 6 % over 130.
KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters);

// Decode kernels that split the KV cache of each sequence over SMs (split-KV).
struct DecodeKernelParameters {
  Ratio blocks_per_sm = 1;         // kappa: thread blocks resident per SM
  Ratio max_splits = 256;          // c_max
  Ratio min_split_tokens = 512;    // L
  Seconds launch;                  // t0
  Seconds merge, merge_per_split;  // r0, r1
  Seconds wave_launch;             // tau: per further wave of blocks
  Ratio bandwidth_efficiency = 1;  // u_d * upsilon: on a large KV cache
  Ratio mma_efficiency = 1;        // of the peak
};
DecodeKernelParameters IsolatedDecodeParameters(const Device& device);
// Mean error 13 % over 1,774 measurements with one set of constants for all kernels and families.
KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters);

// Unfused attention: two batched GEMMs and a softmax, with the scores in memory.
struct UnfusedKernelParameters {
  Seconds launch;
  Ratio gemm_efficiency = 1;       // of the peak
  Ratio score_passes = 0;          // memory round trips per score, forward and backward together
  Ratio forward_fraction = 1;      // of those passes
  Ratio bandwidth_efficiency = 1;  // of the memory bandwidth
};
UnfusedKernelParameters IsolatedUnfusedParameters(const Attention& attention, const Device& device);
// Mean error 10 to 11 % over PyTorch's measurements on A100 and H100.
KernelTime TimeOf(const Attention& attention, const Device& device, const UnfusedKernelParameters& parameters);

// Dispatches by phase and algorithm, with isolated kernel parameters.
KernelTime TimeOf(const Attention& attention, const Device& device);

// Multi-head latent attention: causal prefill on up-projected keys and values; decode on the latent with absorbed
// projections.
struct LatentAttention {
  AttentionPhase phase = AttentionPhase::kPrefill;  // prefill or decode
  Ratio batch = 1, q_len = 1, kv_len = 1;
  Ratio heads = 128;
  Ratio kv_lora_rank = 512, rope_head_dim = 64, nope_head_dim = 128, value_head_dim = 128;
  Precision precision = Precision::kBf16;
  Precision kv_precision = Precision::kBf16;
  AttentionLibrary library = AttentionLibrary::kGeneric;
  Bytes kv_element{};  // of an element of the KV cache, as what chose its format; 0: of the format
};
// Mean error: prefill 2 to 4.5 %, decode 7 to 11 % on Hopper and Blackwell.
KernelTime TimeOf(const LatentAttention& mla, const Device& device);

}  // namespace slipstick
