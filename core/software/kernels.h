// Families of kernels that serving engines bring with them.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

// Attention: TensorRT-LLM's fused kernels (rotary embedding and cache write inside; XQA for decode), the FlashAttention
// line (FlashAttention-3 on Hopper, FlashInfer on Blackwell), or what a device's class has on average.
enum class AttentionKernel { kGeneric, kTrtllm, kFlash };
template <>
struct EnumNames<AttentionKernel> {
  static constexpr std::array<std::pair<AttentionKernel, std::string_view>, 3> names{
      {{AttentionKernel::kGeneric, "generic"}, {AttentionKernel::kTrtllm, "trtllm"}, {AttentionKernel::kFlash, "flash"}}};
};

// Grouped products of experts: CUTLASS grouped kernels, or Triton ones.
enum class ExpertKernel { kCutlass, kTriton };
template <>
struct EnumNames<ExpertKernel> {
  static constexpr std::array<std::pair<ExpertKernel, std::string_view>, 2> names{
      {{ExpertKernel::kCutlass, "cutlass"}, {ExpertKernel::kTriton, "triton"}}};
};

}  // namespace slipstick
