// Kernels that carry tokens to their experts in training.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

// Dispatch of tokens to experts: a library's all-to-all, which sends one copy per rank that holds any of the token's experts, or
// dedicated kernels (DeepEP), which send one copy per node.
enum class ExpertDispatch { kAllToAll, kDedicated };
template <>
struct EnumNames<ExpertDispatch> {
  static constexpr std::array<std::pair<ExpertDispatch, std::string_view>, 2> names{
      {{ExpertDispatch::kAllToAll, "all_to_all"}, {ExpertDispatch::kDedicated, "dedicated"}}};
};

}  // namespace slipstick
