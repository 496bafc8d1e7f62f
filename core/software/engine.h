// A serving engine as numbers: costs a step, a layer and a sequence, kernels, the memory budget rule. Presets: core/presets/engines/.
#pragma once

#include <string>

#include "core/base/field.h"

namespace slipstick {

struct Engine {
  std::string preset = "vllm";
  std::string name = "vLLM";
};
template <>
struct Schema<Engine> {
  static constexpr std::string_view preset_kind = "engine";
  static constexpr auto fields = std::tuple{Of("preset", &Engine::preset, "Catalogue entry that the other members override"),
                                            Of("name", &Engine::name, "What to call it")};
};

}  // namespace slipstick
