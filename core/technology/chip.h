// Derives a device from a chip's area, power and shoreline on a process node.
//
// Area bounds the number of compute units, cache slices, memory and link interfaces; shoreline bounds the interfaces too;
// power bounds the clock, through the voltage, and every bandwidth, through the energy per byte. More of any budget is
// never slower and no budget is exceeded (tests/core/technology). Calibrated on the published areas of the A100; the same
// constants give the H100's rates within 1.5 %, its L2 rate 6 % low.
// Sources: the scaling of DeepFlow (github.com/nanocad-lab/DeepFlow) with its voltage law, foundry statements for the
// nodes, LLMCompass (github.com/PrincetonUniversity/LLMCompass) for areas of an SM's parts.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/base/trace.h"
#include "core/hardware/chip_design.h"
#include "core/hardware/device.h"

namespace slipstick {

// Voltage and clock of `units` compute units under a power budget.
struct OperatingPoint {
  double voltage = 1;  // relative to nominal
  Hertz clock;
  Count units = 0;  // running; the others are power-gated, as their leakage outweighs their work
  Watts used;
};
OperatingPoint OperateUnder(Watts budget, Count units, const UnitTemplate& unit, const TechnologyNode& node);

// How the budgets are spent.
struct DerivedChip {
  Device device;
  Count units_built = 0, units_enabled = 0, l2_slices = 0, memory_sites = 0, links = 0;
  double voltage = 1;
  BytesPerSecond network;  // one direction
  SquareMillimetres area_used;
  Watts power_used;
};
// Issues, with paths below `path`, if the budgets allow no compute unit or no memory.
Result<DerivedChip> Derive(const ChipDesign& design, const std::string& path, Trace& trace);

}  // namespace slipstick
