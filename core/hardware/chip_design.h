// A chip that is not in the catalogue: a process node, budgets of area, power and edge, and how they are split.
// technology/engine.h derives the device; nothing else knows where a device came from.
#pragma once

#include <string>

#include "core/base/field.h"

namespace slipstick {

// A process node relative to a 7 nm class one.
struct TechnologyNode {
  std::string preset;
  std::string name = "7nm";
  double logic_area = 1;          // of the same circuit
  double sram_area = 1;           // of the same cell
  double analog_area = 1;         // of the same interface
  double energy = 1;              // of the same operation at the same frequency
  double speed = 1;               // at the same power
  double nominal_voltage = 0.75;  // over one volt
  double threshold = 0.4;         // voltage, over the nominal one
  double leakage = 0.12;          // share of the core's power at the nominal voltage and frequency
};
template <>
struct Schema<TechnologyNode> {
  static constexpr std::string_view preset_kind = "technology_node";
  static constexpr auto fields = std::tuple{
      Of("preset", &TechnologyNode::preset, "Catalogue entry that the other members override"),
      Of("name", &TechnologyNode::name, "What to call it"),
      Of("logic_area", &TechnologyNode::logic_area, "Area of the same logic, 7 nm = 1").Above(0).AtMost(100),
      Of("sram_area", &TechnologyNode::sram_area, "Area of the same memory cell, 7 nm = 1").Above(0).AtMost(100),
      Of("analog_area", &TechnologyNode::analog_area, "Area of the same interface, 7 nm = 1").Above(0).AtMost(100),
      Of("energy", &TechnologyNode::energy, "Energy of the same operation at the same frequency, 7 nm = 1").Above(0).AtMost(100),
      Of("speed", &TechnologyNode::speed, "Speed at the same power, 7 nm = 1; of the L2 alone. Informational: no figure uses it yet")
          .Above(0)
          .AtMost(100),
      Of("nominal_voltage", &TechnologyNode::nominal_voltage, "Supply, over one volt").Between(0.3, 2),
      Of("threshold", &TechnologyNode::threshold, "Threshold voltage over the supply").Between(0.1, 0.7),
      Of("leakage", &TechnologyNode::leakage, "Share of leakage in the core's nominal power").Between(0, 0.9)};
};

// A memory stack or chip beside the die.
struct DramType {
  std::string preset;
  std::string name = "HBM2E";
  BytesPerSecond bandwidth = 410 * kGBps;
  Bytes capacity = 16 * kGB;
  JoulesPerByte energy = 3.9 * kPJPerBit;  // device and interface
  Millimetres shore = 11 * kMm;            // die edge it takes
  SquareMillimetres package_area = 110 * kMm2;
  SquareMillimetres phy_area = 10.45 * kMm2;        // on the die, at 7 nm
  SquareMillimetres controller_area = 5.74 * kMm2;  // on the die, at 7 nm
};
template <>
struct Schema<DramType> {
  static constexpr std::string_view preset_kind = "dram_type";
  static constexpr auto fields =
      std::tuple{Of("preset", &DramType::preset, "Catalogue entry that the other members override"),
                 Of("name", &DramType::name, "What to call it"),
                 Of("bandwidth", &DramType::bandwidth, "Of one stack or chip").In(kGBps).Above(0).AtMost(1e6),
                 Of("capacity", &DramType::capacity, "Of one stack or chip").In(kGB).Above(0).AtMost(1e6),
                 Of("energy", &DramType::energy, "Device and interface").In(kPJPerBit).Above(0).AtMost(1000),
                 Of("shore", &DramType::shore, "Die edge it takes").In(kMm).Above(0).AtMost(1000),
                 Of("package_area", &DramType::package_area, "Package it takes beside the die").In(kMm2).AtLeast(0),
                 Of("phy_area", &DramType::phy_area, "Interface on the die, at 7 nm").In(kMm2).AtLeast(0),
                 Of("controller_area", &DramType::controller_area, "Controller on the die, at 7 nm").In(kMm2).AtLeast(0)};
};

// A link between devices.
struct LinkType {
  std::string preset;
  std::string name = "NVLink 3";
  BytesPerSecond bandwidth = 25 * kGBps;  // one direction
  JoulesPerByte energy = 6 * kPJPerBit;   // of a byte sent
  Millimetres shore = 1.5 * kMm;
  SquareMillimetres phy_area = 1.888 * kMm2;  // at 7 nm
  SquareMillimetres controller_area = 0.775 * kMm2;
};
template <>
struct Schema<LinkType> {
  static constexpr std::string_view preset_kind = "link_type";
  static constexpr auto fields =
      std::tuple{Of("preset", &LinkType::preset, "Catalogue entry that the other members override"),
                 Of("name", &LinkType::name, "What to call it"),
                 Of("bandwidth", &LinkType::bandwidth, "Of one link, one direction").In(kGBps).Above(0).AtMost(1e6),
                 Of("energy", &LinkType::energy, "Of data sent").In(kPJPerBit).Above(0).AtMost(1000),
                 Of("shore", &LinkType::shore, "Die edge it takes").In(kMm).Above(0).AtMost(1000),
                 Of("phy_area", &LinkType::phy_area, "Interface on the die, at 7 nm").In(kMm2).AtLeast(0),
                 Of("controller_area", &LinkType::controller_area, "Controller on the die, at 7 nm").In(kMm2).AtLeast(0)};
};

// One compute unit (an SM): what it does a clock and what it is made of, areas at 7 nm.
struct UnitTemplate {
  Count flops_per_clock = 2048;                                    // dense 16-bit matrix work
  double fp32 = 1.0 / 16, tf32 = 0.5, fp8 = 0, int8 = 2, fp4 = 0;  // rates over the 16-bit one; 0: none
  SquareMillimetres tensor_area = 0.269 * kMm2;
  SquareMillimetres vector_area = 0.435 * kMm2;
  SquareMillimetres control_area = 1.324 * kMm2;
  Bytes registers = 256 * kKiB;
  Bytes l1 = 192 * kKiB;
  Joules energy = 1.63e-9 * kJ;  // a clock of dense work, at 7 nm and nominal voltage
  Bytes l2_slice = 512 * kKiB;
};
template <>
struct Schema<UnitTemplate> {
  static constexpr auto fields =
      std::tuple{Of("flops_per_clock", &UnitTemplate::flops_per_clock, "Dense 16-bit matrix work a clock").Between(1, 1 << 24),
                 Of("fp32", &UnitTemplate::fp32, "fp32 rate over the 16-bit rate").Between(0, 64),
                 Of("tf32", &UnitTemplate::tf32, "tf32 rate over the 16-bit rate").Between(0, 64),
                 Of("fp8", &UnitTemplate::fp8, "fp8 rate over the 16-bit rate").Between(0, 64),
                 Of("int8", &UnitTemplate::int8, "int8 rate over the 16-bit rate").Between(0, 64),
                 Of("fp4", &UnitTemplate::fp4, "fp4 rate over the 16-bit rate").Between(0, 64),
                 Of("tensor_area", &UnitTemplate::tensor_area, "Matrix units, at 7 nm").In(kMm2).AtLeast(0),
                 Of("vector_area", &UnitTemplate::vector_area, "Vector lanes, at 7 nm").In(kMm2).AtLeast(0),
                 Of("control_area", &UnitTemplate::control_area, "Schedulers and control, at 7 nm").In(kMm2).Above(0),
                 Of("registers", &UnitTemplate::registers, "Register file").In(kKiB).AtLeast(0),
                 Of("l1", &UnitTemplate::l1, "L1 and shared memory").In(kKiB).AtLeast(0),
                 Of("energy", &UnitTemplate::energy, "Of a clock of dense work, at 7 nm").In(kPJ).Above(0),
                 Of("l2_slice", &UnitTemplate::l2_slice, "Smallest piece of the L2").In(kKiB).Above(0)};
};

// Shares of a budget; what is left over is for the rest of the die.
struct AreaSplit {
  double core = 0.577, l2 = 0.1445, memory = 0.118, network = 0.039;
};
template <>
struct Schema<AreaSplit> {
  static constexpr auto fields =
      std::tuple{Of("core", &AreaSplit::core, "Compute units").Between(0, 1), Of("l2", &AreaSplit::l2, "L2").Between(0, 1),
                 Of("memory", &AreaSplit::memory, "Memory interfaces").Between(0, 1),
                 Of("network", &AreaSplit::network, "Network links").Between(0, 1)};
};
struct PowerSplit {
  double core = 0.62, l2 = 0.12, memory = 0.16, network = 0.075;
};
template <>
struct Schema<PowerSplit> {
  static constexpr auto fields = std::tuple{Of("core", &PowerSplit::core, "Compute units").Between(0, 1),
                                            Of("l2", &PowerSplit::l2, "L2. Informational: no figure uses it yet").Between(0, 1),
                                            Of("memory", &PowerSplit::memory, "Memory").Between(0, 1),
                                            Of("network", &PowerSplit::network, "Network links").Between(0, 1)};
};
struct EdgeSplit {
  double memory = 0.58, network = 0.16;
};
template <>
struct Schema<EdgeSplit> {
  static constexpr auto fields = std::tuple{Of("memory", &EdgeSplit::memory, "Memory").Between(0, 1),
                                            Of("network", &EdgeSplit::network, "Network links").Between(0, 1)};
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
  double units_enabled = 108.0 / 128;  // the rest are spare
  double l2_enabled = 5.0 / 6;
  double memory_enabled = 5.0 / 6;
};
template <>
struct Schema<ChipDesign> {
  static constexpr std::string_view preset_kind = "chip_design";
  static constexpr auto fields =
      std::tuple{Of("preset", &ChipDesign::preset, "Catalogue entry that the other members override"),
                 Of("name", &ChipDesign::name, "What to call it"),
                 Of("node", &ChipDesign::node, "Process node"),
                 Of("dram", &ChipDesign::dram, "Memory beside the die"),
                 Of("link", &ChipDesign::link, "Links to other devices"),
                 Of("unit", &ChipDesign::unit, "One compute unit").Advanced(),
                 Of("area", &ChipDesign::area, "Die").In(kMm2).Between(1, 100000),
                 Of("package_area", &ChipDesign::package_area, "Die and memory together").In(kMm2).Between(1, 1000000),
                 Of("power", &ChipDesign::power, "Whole package").In(kWatt).Between(1, 100000),
                 Of("area_split", &ChipDesign::area_split, "Shares of the die; the rest is host port, clocks, redundancy").Advanced(),
                 Of("power_split", &ChipDesign::power_split, "Shares of the power").Advanced(),
                 Of("edge_split", &ChipDesign::edge_split, "Shares of the die's edge").Advanced(),
                 Of("units_enabled", &ChipDesign::units_enabled, "Compute units in use; the rest are spare").Above(0).AtMost(1).Advanced(),
                 Of("l2_enabled", &ChipDesign::l2_enabled, "L2 in use").Above(0).AtMost(1).Advanced(),
                 Of("memory_enabled", &ChipDesign::memory_enabled, "Memory sites in use").Above(0).AtMost(1).Advanced()};
};

}  // namespace slipstick
