// Projections that get low-rank adapters.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

// Of attention, or of dense MLPs and shared experts too; never of routed experts.
enum class AdapterTargets { kAttention, kAll };
template <>
struct EnumNames<AdapterTargets> {
  static constexpr std::array<std::pair<AdapterTargets, std::string_view>, 2> names{
      {{AdapterTargets::kAttention, "attention"}, {AdapterTargets::kAll, "all"}}};
};

}  // namespace slipstick
