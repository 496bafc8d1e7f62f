// CATCH's computations (UCLA NanoCAD; github.com/nanocad-lab/CATCH at d60dafb), faults included, for comparison digit
// by digit. Our own prices come from device_bill.h.
//
// Faults with a setting: machine cost per second is multiplied by the machine's uptime instead of divided by it
// (uptime_multiplies); a part's own quality is used in place of the assembled part's (part_self_quality); the area of
// interposers and pads never counts as critical, so an interposer's defects cost nothing (carrier_without_defects).
#pragma once

#include <vector>

#include "core/economics/wafer.h"

namespace slipstick::catch_tool {

struct Settings {
  bool uptime_multiplies = false;
  bool part_self_quality = false;
  bool carrier_without_defects = false;

  static Settings AsTool() { return {true, true, true}; }
};

struct Layer {
  DollarsPerArea price;  // of the full 300 mm wafer
  PerArea defect_density;
  double critical = 1;
  double lithography = 0;  // share of the price that grows as less of the exposure field is used
  double clustering = 2;
  Dollars masks;
};
double LayerYield(const Layer& layer, SquareMillimetres defect_area);
Dollars LayerCost(const Layer& layer, SquareMillimetres area, double aspect);

// Dies per wafer with a rim of 0.1 mm and streets of 0.13 mm: by searched row grids, by searched rows without a common
// grid, and by the closed form.
double DiesGrid(SquareMillimetres area, double aspect);
double DiesRows(SquareMillimetres area, double aspect);
double DiesFormula(SquareMillimetres area, double aspect);
// Share of the exposure field that dies fill, by area only.
double ReticleUse(SquareMillimetres area);

struct Process {
  Dollars place_machine, bond_machine;  // over five years
  Dollars labour = 1e5 * kUsd;          // per year and person
  Seconds place_time = 10 * kS, bond_time = 20 * kS;
  Count place_group = 1, bond_group = 1;
  Millimetres separation, edge;
  double amperes_per_mm2 = 1e4;
  Millimetres pitch;
  DollarsPerArea material;
  double align_yield = 0.999, bond_yield = 0.999999, tsv_yield = 0.999999;
  PerArea dielectric_defects;
};
Dollars AssemblyCost(const Process& process, Count parts, SquareMillimetres stack, const Settings& settings);

// A part for a carrier: its cost, its own quality, and its quality as assembled.
struct Part {
  Dollars cost;
  double self_quality = 1;
  double quality = 1;
};
double AssemblyYield(const Process& process, double self_quality, const std::vector<Part>& parts, double signals,
                     double tsvs, SquareMillimetres area, const Settings& settings);

// A square of n chiplets of equal core area on an interposer, linked to their neighbors and outwards.
struct GridSystem {
  Layer chip, interposer;
  Process process;
  Count chiplets = 1;
  SquareMillimetres core = 800 * kMm2;
  SquareMillimetres link_cell = 0.8110368 * kMm2;  // transmitter and receiver
  double wires = 140;                              // per link
  double amperes = 100;
  double volume = 1e7;
};
struct GridBill {
  SquareMillimetres interposer_area, stack_area, chip_area;  // chip_area: of the first chiplet
  Dollars interposer, chips, assembly, cost, perfect, design;
  double yield = 1;
  double tsvs = 0, signals = 0;
};
GridBill PriceGrid(const GridSystem& system, const Settings& settings);

}  // namespace slipstick::catch_tool
