// Attention cores, softmax(Q·K)·V over a device's heads: prefill, training forward and backward, decode.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/attention_core.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"
#include "core/software/flash_version.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class AttentionPhase { kPrefill, kDecode, kBackward, kForwardBackward };
ENUM_NAMES(AttentionPhase, {kPrefill, "prefill"}, {kDecode, "decode"}, {kBackward, "backward"},
           {kForwardBackward, "forward_backward"});

// Kernel library; auto: the engine's, otherwise the device's best.
enum class AttentionAlgorithm { kAuto, kFlash1, kFlash2, kFlash3, kUnfused };
ENUM_NAMES(AttentionAlgorithm, {kAuto, "auto"}, {kFlash1, "flash1"}, {kFlash2, "flash2"}, {kFlash3, "flash3"},
           {kUnfused, "unfused"});

// On one device: `heads` and `kv_heads` are those that it holds. All sequences of the batch have the same lengths.
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
  // Bytes per element of KV cache and computed operands, with the nodes of the format choices; 0: from the format.
  Bytes kv_element{}, row_element{};
  bool writes_kv_cache = true;  // serving: includes rotary embedding and KV-cache write; false: only the core
};
// Elements of a value per head.
inline Ratio ValueDim(const Attention& attention) {
  return attention.value_dim > 0 ? attention.value_dim : attention.head_dim;
}

// The kernel works on tiles, splits over the SMs, or is unfused, depending on phase and algorithm.
KernelTime TimeOf(const Attention& attention, const Device& device);

// Time of a decode step in a prefill kernel: query heads do not share a thread block, and each block computes a full
// tile of rows for a single query.
Seconds TimeInPromptKernel(const Attention& decode, const Device& device);

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
  bool grouped = false;           // decode in Triton's kernel: 16 query heads to a block
  bool splits_by_length = false;  // of that kernel: parts of 512 tokens; else the blocks of the batch fill the SMs
  Bytes kv_element{};  // bytes per element of the KV cache, with the node of the choice of format; 0: from the format
};
// Mean error: prefill 2 to 4.5 %, decode 7 to 11 % on Hopper and Blackwell.
KernelTime TimeOf(const LatentAttention& mla, const Device& device);

// Time of the isolated core with this version of FlashAttention relative to the fastest kernel of the device's family,
// at least 1. Kernels of earlier versions count, too, so a version is never slower than an earlier one. If the family
// has no version this old, its oldest one counts.
double FlashSlowdown(FlashVersion version, Attention core, const Device& device);

}  // namespace slipstick
