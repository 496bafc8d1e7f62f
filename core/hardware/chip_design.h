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
  std::string name = "7 nm";
  double logic_area = 1;       // per circuit
  double sram_area = 1;        // per bit cell
  double analog_area = 1;      // per interface
  double energy = 1;           // per operation at equal frequency
  double speed = 1;            // at equal power
  double nominal_voltage = 1;  // in volts
  double threshold = 0;        // threshold voltage over nominal voltage
  double leakage = 0;          // as a fraction of core power, at nominal voltage and frequency
};
template <>
struct Schema<TechnologyNode> {
  static constexpr std::string_view preset_kind = "technology_node";
  static constexpr std::string_view standard = "technology_node";
  static const Fields fields;
};

// One memory stack (HBM) in the package, or chip (GDDR, LPDDR) on the board around it.
struct DramType {
  std::string preset;
  std::string name = "HBM2E";
  BytesPerSecond bandwidth;
  Bytes capacity;
  JoulesPerByte energy;               // device and interface
  Millimetres shore;                  // shoreline (die edge) per stack or chip
  SquareMillimetres package_area;     // beside the die
  SquareMillimetres phy_area;         // on the die, at 7 nm
  SquareMillimetres controller_area;  // on the die, at 7 nm
  bool in_package = true;             // false: on the board, where it takes no package area
  Count group = 1;                    // chips per controller: they come in whole groups
  Count max_chips = 1024;             // widest bus built
};
template <>
struct Schema<DramType> {
  static constexpr std::string_view preset_kind = "dram_type";
  static constexpr std::string_view standard = "dram_type";
  static const Fields fields;
};

// One link between devices.
struct LinkType {
  std::string preset;
  std::string name = "NVLink 3";
  BytesPerSecond bandwidth;  // one direction
  JoulesPerByte energy;      // per byte sent
  Millimetres shore;
  SquareMillimetres phy_area;  // at 7 nm
  SquareMillimetres controller_area;
};
template <>
struct Schema<LinkType> {
  static constexpr std::string_view preset_kind = "link_type";
  static constexpr std::string_view standard = "link_type";
  static const Fields fields;
};

// One compute unit (SM): throughput per clock and components, areas at 7 nm.
struct UnitTemplate {
  Count flops_per_clock = 0;                              // dense, 16-bit
  double fp32 = 0, tf32 = 0, fp8 = 0, int8 = 0, fp4 = 0;  // throughput relative to 16 bit; 0: not supported
  double tensor_to_vector = 1;  // relative to the ratio that the numbers of this template give
  SquareMillimetres tensor_area;
  SquareMillimetres vector_area;
  SquareMillimetres control_area;
  Bytes registers;
  Bytes l1;
  Joules energy;  // per clock of dense 16-bit work, at 7 nm and nominal voltage
  Bytes l2_slice;
  double register_area = 0, l1_area = 0, l2_area = 0;  // mm^2 per byte at 7 nm; l2_area includes tags and control
  Bytes l1_rate, l2_rate;                              // bytes per clock: of the L1, and of an L2 slice
  JoulesPerByte l2_energy;                             // at 7 nm
  Hertz clock;                                         // at nominal voltage and 7 nm
  double voltage_below = 0, voltage_above = 0;         // range around the nominal voltage, in volts
};
FIELDS_OF(UnitTemplate);

// Fractions of a budget. The rest of the area is for host port, clocks and redundancy.
struct AreaSplit {
  double core = 0, l2 = 0, memory = 0, network = 0;
};
FIELDS_OF(AreaSplit);
struct PowerSplit {
  double core = 0, l2 = 0, memory = 0, network = 0;
};
FIELDS_OF(PowerSplit);
struct EdgeSplit {
  double memory = 0, network = 0;
};
FIELDS_OF(EdgeSplit);

struct ChipDesign {
  std::string preset;
  std::string name = "custom";
  TechnologyNode node;
  DramType dram;
  LinkType link;
  UnitTemplate unit;
  SquareMillimetres area;
  SquareMillimetres package_area;  // die and memory together
  Watts power;
  AreaSplit area_split;
  PowerSplit power_split;
  EdgeSplit edge_split;
  double idle_share = 0;     // fraction of the power that an idle device draws
  double units_enabled = 1;  // fraction; the others are spares for yield
  double l2_enabled = 1;
  double memory_enabled = 1;
  std::optional<Count> stacks;  // requested memory stacks or chips; absent: as many as the budgets allow
};
template <>
struct Schema<ChipDesign> {
  static constexpr std::string_view preset_kind = "chip_design";
  static constexpr std::string_view standard = "chip_design";
  static const Fields fields;
};

}  // namespace slipstick
