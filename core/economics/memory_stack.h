// Device memory as bought: stacks in the package (HBM) or chips on the board.
#pragma once

#include <string>
#include <string_view>

#include "core/economics/band.h"

namespace slipstick {

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
  static constexpr auto fields =
      std::tuple{Of("preset", &MemoryInput::preset, "Catalogue entry that the other members override"),
                 Of("name", &MemoryInput::name, "What to call it"),
                 Of("price", &MemoryInput::price, "What tested stacks or chips cost").In(kUsdPerGB).AtLeast(0).AtMost(1e4),
                 Of("price_band", &MemoryInput::price_band, "How far the price may lie from that").Advanced(),
                 Of("stacks", &MemoryInput::stacks, "Stacks or chips that a device carries").Between(0, 1024).Derived(),
                 Of("stack_capacity", &MemoryInput::stack_capacity, "Of one").In(kGB).Above(0).AtMost(1e5).Derived(),
                 Of("stack_area", &MemoryInput::stack_area, "Footprint of one in the package").In(kMm2).AtLeast(0).AtMost(1e4).Advanced(),
                 Of("in_package", &MemoryInput::in_package, "In the package; otherwise on the board").Advanced(),
                 Of("carbon", &MemoryInput::carbon, "Emitted in making it").In(kGPerGB).AtLeast(0).Advanced()};
};

}  // namespace slipstick
