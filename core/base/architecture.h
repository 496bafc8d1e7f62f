// The families of accelerators that software writes kernels for. They select rows of constants, never a formula.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

enum class Architecture {
  kVolta,
  kTuring,
  kAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kBlackwellRtx,
  kCdna,
  kTpu,
  kGaudi,
  kNeuron,
  kApple,
  kGeneric
};
template <>
struct EnumNames<Architecture> {
  static constexpr std::array<std::pair<Architecture, std::string_view>, 13> names{{{Architecture::kVolta, "volta"},
                                                                                    {Architecture::kTuring, "turing"},
                                                                                    {Architecture::kAmpere, "ampere"},
                                                                                    {Architecture::kAda, "ada"},
                                                                                    {Architecture::kHopper, "hopper"},
                                                                                    {Architecture::kBlackwell, "blackwell"},
                                                                                    {Architecture::kBlackwellRtx, "blackwell_rtx"},
                                                                                    {Architecture::kCdna, "cdna"},
                                                                                    {Architecture::kTpu, "tpu"},
                                                                                    {Architecture::kGaudi, "gaudi"},
                                                                                    {Architecture::kNeuron, "neuron"},
                                                                                    {Architecture::kApple, "apple"},
                                                                                    {Architecture::kGeneric, "generic"}}};
};

}  // namespace slipstick
