// Device memory as bought: stacks in the package (HBM) or chips on the board.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/tally.h"
#include "core/economics/band.h"

namespace slipstick {

inline constexpr Count kMaxStacks = 1024;
// Prices change: a listed price holds for its year.
inline constexpr Count kFirstPriceYear = 2010, kLastPriceYear = 2100;

struct MemoryInput {
  std::string preset = "hbm3";
  std::string name = "HBM3";
  DollarsPerByte price;
  std::optional<Count> price_year;
  Band price_band;
  Tally stacks = 1;
  Bytes stack_capacity;
  SquareMillimetres stack_area;  // footprint on the carrier
  bool in_package = true;        // false: soldered on the board
  GramsPerByte carbon;
};
template <>
struct Schema<MemoryInput> {
  static constexpr std::string_view preset_kind = "dram";
  static constexpr std::string_view standard = "memory";
  static const Fields fields;
};

}  // namespace slipstick
