// A custom chip: a process node, budgets of area, power and shoreline, and how each budget is split. technology/chip.h
// derives the device from it; no other part distinguishes derived devices from catalog ones.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"

namespace slipstick {

// A process node, relative to a 7 nm class node.
struct TechnologyNode {
  std::string preset;
  std::string name = "7nm";
  double logic_area = 1;          // per circuit
  double sram_area = 1;           // per bit cell
  double analog_area = 1;         // per interface
  double energy = 1;              // per operation at equal frequency
  double speed = 1;               // at equal power
  double nominal_voltage = 0.75;  // in volts
  double threshold = 0.4;         // threshold voltage over nominal voltage
  double leakage = 0.12;          // fraction of core power at nominal voltage and frequency
};
template <>
struct Schema<TechnologyNode> {
  static constexpr std::string_view preset_kind = "technology_node";
  static const Fields fields;
};

// One memory stack (HBM) in the package, or chip (GDDR, LPDDR) on the board around it.
struct DramType {
  std::string preset;
  std::string name = "HBM2E";
  BytesPerSecond bandwidth = 410 * kGBps;
  Bytes capacity = 16 * kGB;
  JoulesPerByte energy = 3.9 * kPJPerBit;           // device and interface
  Millimetres shore = 11 * kMm;                     // shoreline (die edge) per stack or chip
  SquareMillimetres package_area = 110 * kMm2;      // beside the die
  SquareMillimetres phy_area = 10.45 * kMm2;        // on the die, at 7 nm
  SquareMillimetres controller_area = 5.74 * kMm2;  // on the die, at 7 nm
  bool in_package = true;                           // false: on the board, where it takes no package area
  Count group = 1;                                  // chips per controller: they come in whole groups
  Count max_chips = 1024;                           // widest bus built
};
template <>
struct Schema<DramType> {
  static constexpr std::string_view preset_kind = "dram_type";
  static const Fields fields;
};

// One link between devices.
struct LinkType {
  std::string preset;
  std::string name = "NVLink 3";
  BytesPerSecond bandwidth = 25 * kGBps;  // one direction
  JoulesPerByte energy = 6 * kPJPerBit;   // per byte sent
  Millimetres shore = 1.5 * kMm;
  SquareMillimetres phy_area = 1.888 * kMm2;  // at 7 nm
  SquareMillimetres controller_area = 0.775 * kMm2;
};
template <>
struct Schema<LinkType> {
  static constexpr std::string_view preset_kind = "link_type";
  static const Fields fields;
};

// One compute unit (SM): throughput per clock and components, areas at 7 nm.
struct UnitTemplate {
  Count flops_per_clock = 2048;                                    // dense, 16-bit
  double fp32 = 1.0 / 16, tf32 = 0.5, fp8 = 0, int8 = 2, fp4 = 0;  // throughput over that of 16 bit; 0: not supported
  SquareMillimetres tensor_area = 0.269 * kMm2;
  SquareMillimetres vector_area = 0.435 * kMm2;
  SquareMillimetres control_area = 1.324 * kMm2;
  Bytes registers = 256 * kKiB;
  Bytes l1 = 192 * kKiB;
  Joules energy = 1.63e-9 * kJ;  // per clock of dense 16-bit work, at 7 nm and nominal voltage
  Bytes l2_slice = 512 * kKiB;
};
template <>
struct Schema<UnitTemplate> {
  static const Fields fields;
};

// Fractions of a budget. The remainder of the area is for host port, clocks and redundancy.
struct AreaSplit {
  double core = 0.577, l2 = 0.1445, memory = 0.118, network = 0.039;
};
template <>
struct Schema<AreaSplit> {
  static const Fields fields;
};
struct PowerSplit {
  double core = 0.62, l2 = 0.12, memory = 0.16, network = 0.075;
};
template <>
struct Schema<PowerSplit> {
  static const Fields fields;
};
struct EdgeSplit {
  double memory = 0.58, network = 0.16;
};
template <>
struct Schema<EdgeSplit> {
  static const Fields fields;
};

struct ChipDesign {
  std::string preset;
  std::string name = "custom";
  TechnologyNode node;
  DramType dram;
  LinkType link;
  UnitTemplate unit;
  SquareMillimetres area = 826 * kMm2;
  SquareMillimetres package_area = 1600 * kMm2;  // die and memory together
  Watts power = 400 * kWatt;
  AreaSplit area_split;
  PowerSplit power_split;
  EdgeSplit edge_split;
  double units_enabled = 108.0 / 128;  // the others are spares for yield
  double l2_enabled = 5.0 / 6;
  double memory_enabled = 5.0 / 6;
  std::optional<Count> stacks;  // memory stacks or chips wanted; absent: as many as the budgets allow
};
template <>
struct Schema<ChipDesign> {
  static constexpr std::string_view preset_kind = "chip_design";
  static const Fields fields;
};

}  // namespace slipstick
