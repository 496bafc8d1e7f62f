// A die: its process node, its yield, and the price of a good one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/economics/band.h"
#include "core/economics/harvest.h"
#include "core/economics/wafer.h"

namespace slipstick {

struct ProcessNode {
  std::string preset = "5nm";
  std::string name = "5 nm";
  Dollars wafer_price = 16988 * kUsd;
  Band wafer_price_band;
  PerArea defect_density = 0.09 * kPerCm2;
  Band defect_density_band;
  double clustering = 3;
  Band clustering_band;
  Dollars mask_set = 18.1 * kMUsd;
  Dollars design = 542 * kMUsd;                  // designing a 300 mm^2 die up to tape-out, masks included
  PerArea logic_density = 138.2e6 * kPerMm2;     // transistors, of the library
  SquareMillimetres sram_cell = 0.021 * kUm2;    // high-density cell
  double analog_scale = 0.9;                     // area of analog and PHY circuits over that at 7 nm
  JoulesPerArea fab_energy = 2.75 * kKWhPerCm2;  // electricity that processing takes
  GramsPerArea fab_gas = 327.5 * kGPerCm2;       // process gases, as CO2
};
template <>
struct Schema<ProcessNode> {
  static constexpr std::string_view preset_kind = "node";
  static constexpr auto fields = std::tuple{
      Of("preset", &ProcessNode::preset, "Catalogue entry that the other members override"),
      Of("name", &ProcessNode::name, "What to call it"),
      Of("wafer_price", &ProcessNode::wafer_price, "What a processed 300 mm wafer costs").In(kUsd).Above(0).AtMost(1e7),
      Of("wafer_price_band", &ProcessNode::wafer_price_band, "How far the price may lie from that").Advanced(),
      Of("defect_density", &ProcessNode::defect_density, "Killing defects per area").In(kPerCm2).Between(0, 100),
      Of("defect_density_band", &ProcessNode::defect_density_band, "From a mature process to one in ramp").Advanced(),
      Of("clustering", &ProcessNode::clustering, "Alpha of the negative binomial: small where defects cluster").Between(0.1, 1e9),
      Of("clustering_band", &ProcessNode::clustering_band, "How far alpha may lie from that").Advanced(),
      Of("mask_set", &ProcessNode::mask_set, "A set of masks. Informational: no figure uses it yet; the design cost holds it")
          .In(kMUsd)
          .AtLeast(0)
          .AtMost(1e4)
          .Advanced(),
      Of("design", &ProcessNode::design, "Designing a 300 mm^2 die up to tape-out, masks included")
          .In(kMUsd)
          .AtLeast(0)
          .AtMost(1e5)
          .Advanced(),
      Of("logic_density", &ProcessNode::logic_density, "Transistors of a logic library. Informational: no figure uses it yet")
          .In(kPerMm2)
          .Above(0)
          .AtMost(1e12)
          .Advanced(),
      Of("sram_cell", &ProcessNode::sram_cell, "High-density SRAM cell. Informational: no figure uses it yet")
          .In(kUm2)
          .Above(0)
          .AtMost(100)
          .Advanced(),
      Of("analog_scale", &ProcessNode::analog_scale,
         "Area of analog and PHY circuits over that at 7 nm. No figure of a report uses it: it acts where a cost study splits the die")
          .Above(0)
          .AtMost(100)
          .Advanced(),
      Of("fab_energy", &ProcessNode::fab_energy, "Electricity that processing takes").In(kKWhPerCm2).AtLeast(0).Advanced(),
      Of("fab_gas", &ProcessNode::fab_gas, "Process gases, as CO2").In(kGPerCm2).AtLeast(0).Advanced()};
};

struct DieInput {
  std::string name = "compute";
  Count count = 1;
  SquareMillimetres area = 814 * kMm2;
  double aspect = 1;  // width over height
  ProcessNode node;
  YieldModel yield_model = YieldModel::kNegativeBinomial;
  double critical_area = 1;  // share of the area where a defect kills
  double layers = 10;
  double manual_yield = 0.9;
  double process_yield = 1;  // wafers lost whole and parametric loss
  Count units = 1;           // repeated units, of which some may be bad
  SquareMillimetres unit_area;
  Count spare_units = 0;
  bool stacked = false;  // bonded on another die of the package
  double reuse = 1;      // packages of all products with this design, over this product's
};
template <>
struct Schema<DieInput> {
  static constexpr auto fields = std::tuple{
      Of("name", &DieInput::name, "What to call it"),
      Of("count", &DieInput::count, "How many in a package").Between(1, 1024),
      Of("area", &DieInput::area, "Of one").In(kMm2).Above(0).AtMost(60000),
      Of("aspect", &DieInput::aspect, "Width over height").Between(0.05, 20).Advanced(),
      Of("node", &DieInput::node, "Process node"),
      Of("yield_model", &DieInput::yield_model, "How defects become bad dies"),
      Of("critical_area", &DieInput::critical_area, "Share of the area where a defect kills").Between(0, 1).Advanced(),
      Of("layers", &DieInput::layers, "Critical layers (Bose-Einstein)").Between(1, 1000).Advanced(),
      Of("manual_yield", &DieInput::manual_yield, "The yield itself (manual)").Above(0).AtMost(1).Advanced(),
      Of("process_yield", &DieInput::process_yield, "Share left by lost wafers and parametric loss").Above(0).AtMost(1).Advanced(),
      Of("units", &DieInput::units, "Repeated units, of which some may be bad").Between(1, 1 << 20).Advanced(),
      Of("unit_area", &DieInput::unit_area, "Of one such unit").In(kMm2).AtLeast(0).Advanced(),
      Of("spare_units", &DieInput::spare_units, "How many may be bad").Between(0, 1 << 20).Advanced(),
      Of("stacked", &DieInput::stacked, "Bonded on another die of the package").Advanced(),
      Of("reuse", &DieInput::reuse, "Packages of all products with this design, over this product's").Between(1, 1e9).Advanced()};
};

// Wafer sort: `coverage` is the share of bad dies that it finds.
struct SortTest {
  DollarsPerSecond rate = 200 * kUsdPerHour;
  Seconds time = 30 * kS;
  double coverage = 0.98;
};
template <>
struct Schema<SortTest> {
  static constexpr auto fields =
      std::tuple{Of("rate", &SortTest::rate, "Tester and prober").In(kUsdPerHour).AtLeast(0).Advanced(),
                 Of("time", &SortTest::time, "On one die").In(kS).AtLeast(0).Advanced(),
                 Of("coverage", &SortTest::coverage, "Share of the bad dies that it finds").Between(0, 1).Advanced()};
};

Millimetres DieWidth(SquareMillimetres area, double aspect);

struct DieCost {
  Count per_wafer = 0;
  double yield = 0;    // share of dies that are good, harvesting included
  double passing = 0;  // share that passes the sort
  double quality = 0;  // share of what passes that is good; the rest escapes into packages
  Dollars raw;         // untested
  Dollars good;        // of a die that passed
};
// `per_wafer` placed dies (CountDies), at least 1. `index` is the die's place in the report.
DieCost PriceDie(const DieInput& die, Count per_wafer, const SortTest& sort, std::size_t index, Trace& trace);

// The yield alone: harvesting, critical area and process yield included.
double DieYield(const DieInput& die);

}  // namespace slipstick
