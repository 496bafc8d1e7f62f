// Versions of FlashAttention.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

enum class FlashVersion { kFlash1, kFlash2, kFlash3 };
template <>
struct EnumNames<FlashVersion> {
  static constexpr std::array<std::pair<FlashVersion, std::string_view>, 3> names{
      {{FlashVersion::kFlash1, "flash1"}, {FlashVersion::kFlash2, "flash2"}, {FlashVersion::kFlash3, "flash3"}}};
};

}  // namespace slipstick
