// Derives a device from a chip's area, power and shoreline on a process node.
//
// Area bounds the number of compute units, cache slices, memory and link interfaces; shoreline also bounds the
// interfaces; power bounds the clock, through the voltage, and every bandwidth, through the energy per byte. More of
// any budget is never slower, and no budget is exceeded (tests/core/technology). Calibrated on the published areas of
// the A100; the same constants give the H100's rates within 1.5 %, its L2 rate 6 % low. Sources: the scaling of
// DeepFlow (github.com/nanocad-lab/DeepFlow) with its voltage law, foundry statements for the nodes, LLMCompass
// (github.com/PrincetonUniversity/LLMCompass) for areas of an SM's parts.
#pragma once

#include <optional>
#include <string>

#include "core/base/issue.h"
#include "core/hardware/chip_design.h"
#include "core/hardware/device.h"

namespace slipstick {

// Voltage and clock of `units` compute units under a power budget.
struct OperatingPoint {
  double voltage = 1;  // relative to nominal
  Hertz clock;
  Count units = 0;  // running; the others are power-gated, because their leakage outweighs their work
  Watts used;
};
OperatingPoint OperateUnder(Watts budget, Count units, const UnitTemplate& unit, const TechnologyNode& node);

// The memory that each budget allows, and the budget that limits it.
struct DramBudget {
  double by_shoreline = 0, by_package = 0, by_area = 0;  // sites; off the package, by_package is the widest bus built
  Count sites = 0, stacks = 0;                           // sites, and how many of them have a stack
  std::optional<Count> wanted;                           // requested stacks
  std::string sites_bound;                               // "shoreline", "package", "bus" or "area"
  BytesPerSecond of_stacks, of_power;                    // bandwidth that the stacks and the memory power allow
  std::optional<BytesPerSecond> of_links;                // bandwidth that the die-to-die links allow
  BytesPerSecond reached;
  std::string bound;  // of the bandwidth: "stacks", "power" or "links"
  [[nodiscard]] double Cut() const { return 1 - reached / of_stacks; }
};

// How the budgets are used.
struct DerivedChip {
  Device device;
  DramBudget memory;
  Count units_built = 0, units_enabled = 0, l2_slices = 0, memory_sites = 0, links = 0;
  double voltage = 1;
  BytesPerSecond network;       // one direction
  SquareMillimetres unit_area;  // of one compute unit
  SquareMillimetres area_used;
  Watts power_used;
  Watts core_unused;  // of the core's share, which it cannot use at its highest voltage
};
// The dies of a chip with several dies, and the needs of their links.
struct ChipDies {
  SquareMillimetres silicon;                   // of all dies, including links
  Millimetres shoreline;                       // edge left for memory and network
  Watts link_power;                            // not available for the circuits
  std::optional<BytesPerSecond> memory_limit;  // bandwidth at which the dies can read each other's memory
};
// `dies`: absent for a single die of the design's area. Returns issues, with paths below `path`, if the budgets allow
// no compute unit or no memory.
Result<DerivedChip> Derive(const ChipDesign& design, const std::optional<ChipDies>& dies, const std::string& path);
inline Result<DerivedChip> Derive(const ChipDesign& design, const std::string& path) {
  return Derive(design, std::nullopt, path);
}

// Budgets whose shares sum to more than the budget. Derive accepts them: a bound of the best split has all shares at
// their maximum at once.
Issues OverspentBudgets(const ChipDesign& design, const std::string& path);

}  // namespace slipstick
