// A die: its process node, its yield, and the price of a good one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/tally.h"
#include "core/economics/band.h"
#include "core/economics/wafer.h"
#include "core/economics/yield.h"

namespace slipstick {

struct ProcessNode {
  std::string preset = "5nm";
  std::string name = "5 nm";
  Dollars wafer_price;
  Band wafer_price_band;
  PerArea defect_density;
  Band defect_density_band;
  Ratio clustering = 1;
  Band clustering_band;
  Dollars mask_set;
  Dollars design;               // design of a 300 mm^2 die up to tape-out, masks included
  PerArea logic_density;        // transistors, of the library
  SquareMillimetres sram_cell;  // high-density cell
  double analog_scale = 1;      // area of analog and PHY circuits relative to 7 nm
  JoulesPerArea fab_energy;     // electricity for processing
  GramsPerArea fab_gas;         // process gases, as CO2
};
template <>
struct Schema<ProcessNode> {
  static constexpr std::string_view preset_kind = "node";
  static constexpr std::string_view standard = "node";
  static const Fields fields;
};

struct DieInput {
  std::string name = "compute";
  Tally count = 1;
  SquareMillimetres area;
  Ratio aspect = 1;  // width over height
  ProcessNode node;
  YieldModel yield_model = YieldModel::kNegativeBinomial;
  Ratio critical_area = 1;  // share of the die where a defect is fatal
  Ratio layers = 1;
  Ratio manual_yield = 1;
  Ratio process_yield = 1;  // loss of whole wafers, and parametric loss
  Tally units = 1;          // repeated blocks, some of which may be defective
  SquareMillimetres unit_area;
  Tally spare_units = 0;
  bool stacked = false;  // bonded on top of another die of the package
  Ratio reuse = 1;       // packages of all products with this design, relative to this product's
};
template <>
struct Schema<DieInput> {
  static constexpr std::string_view standard = "die";
  static const Fields fields;
};

// Wafer sort: `coverage` is the share of bad dies that the test finds.
struct SortTest {
  DollarsPerSecond rate;
  Seconds time;
  Ratio coverage = 1;
};
FIELDS_OF(SortTest);

Millimetres DieWidth(SquareMillimetres area, Ratio aspect);

struct DieCost {
  Ratio per_wafer;
  Ratio yield;    // share of good dies, including harvested ones
  Ratio passing;  // share that passes the sort
  Ratio quality;  // share of passing dies that are good; the rest escapes into packages
  Dollars raw;    // untested
  Dollars good;   // per die that passed
};
DieCost PriceDie(const DieInput& die, Ratio per_wafer, const SortTest& sort);

// Only the yield: including harvesting, critical area and process yield.
Ratio DieYield(const DieInput& die);

}  // namespace slipstick
