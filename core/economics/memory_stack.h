// Device memory as bought: stacks in the package (HBM) or chips on the board.
#pragma once

#include <string>
#include <string_view>

#include "core/economics/band.h"

namespace slipstick {

inline constexpr Count kMaxStacks = 1024;

struct MemoryInput {
  std::string preset = "hbm3";
  std::string name = "HBM3";
  DollarsPerByte price = 15 * kUsdPerGB;
  Band price_band;
  Count stacks = 5;
  Bytes stack_capacity = 16 * kGB;
  SquareMillimetres stack_area = 110 * kMm2;  // footprint on the carrier
  bool in_package = true;                     // false: soldered on the board
  GramsPerByte carbon = 853 * kGPerGB;
};
template <>
struct Schema<MemoryInput> {
  static constexpr std::string_view preset_kind = "dram";
  static const Fields fields;
};

}  // namespace slipstick
