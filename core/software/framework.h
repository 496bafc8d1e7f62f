// A training stack as numbers: how it overlaps, fuses, launches and keeps memory. Presets: core/presets/frameworks/.
#pragma once

#include <string>

#include "core/base/field.h"

namespace slipstick {

struct Framework {
  std::string preset = "megatron";
  std::string name = "Megatron-Core";
};
template <>
struct Schema<Framework> {
  static constexpr std::string_view preset_kind = "framework";
  static constexpr auto fields = std::tuple{Of("preset", &Framework::preset, "Catalogue entry that the other members override"),
                                            Of("name", &Framework::name, "What to call it")};
};

}  // namespace slipstick
