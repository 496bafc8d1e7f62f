// Die-to-die interfaces: area, shoreline and power for a given bandwidth between chiplets.
#pragma once

#include <string>
#include <string_view>

#include "core/economics/band.h"

namespace slipstick {

struct LinkInterface {
  std::string preset = "ucie-advanced";
  std::string name = "UCIe advanced, 32 GT/s";
  BytesPerSecond module_bandwidth;  // of one module, both directions
  SquareMillimetres module_area;    // transmit and receive
  Millimetres module_edge;
  JoulesPerByte energy;
  Band energy_band;
};
template <>
struct Schema<LinkInterface> {
  static constexpr std::string_view preset_kind = "interface";
  static constexpr std::string_view standard = "interface";
  static const Fields fields;
};

}  // namespace slipstick
