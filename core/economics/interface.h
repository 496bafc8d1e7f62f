// Die-to-die interfaces: what area, edge and power a bandwidth between chiplets takes.
#pragma once

#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/economics/band.h"

namespace slipstick {

struct LinkInterface {
  std::string preset = "ucie-advanced";
  std::string name = "UCIe advanced, 32 GT/s";
  BytesPerSecond module_bandwidth = 512 * kGBps;  // of one module, both directions
  SquareMillimetres module_area = 0.811 * kMm2;   // transmit and receive
  Millimetres module_edge = 0.3888 * kMm;
  JoulesPerByte energy = 0.3 * kPJPerBit;
  Band energy_band;
};
template <>
struct Schema<LinkInterface> {
  static constexpr std::string_view preset_kind = "interface";
  static const Fields fields;
};

struct LinkNeed {
  Count modules = 0;  // of one die
  SquareMillimetres area;
  Millimetres edge;
  Watts power;  // at full bandwidth, counted once a link
};
// What a bandwidth (both directions) out of a die takes of that die.
LinkNeed NeedOf(const LinkInterface& interface, BytesPerSecond bandwidth);

}  // namespace slipstick
