// Chiplet Actuary's computations (Feng and Ma, DAC 2022; github.com/Yinxiao-Feng/chiplet-actuary at 2c91fb9), faults
// included, for comparison digit by digit. Our own prices come from device_bill.h.
//
// Faults with a setting: micro-bumps are charged once per kind of die instead of once per die (bumps_once_per_kind),
// and the fixed design cost of a fan-out package is divided by 300 (fan_out_fixed_over_300). The tool has no reticle,
// stitching, test or harvesting, and fractional dies per wafer.
#pragma once

#include <optional>
#include <vector>

#include "core/economics/wafer.h"

namespace slipstick::actuary {

enum class Scheme { kMcm, kFanOutChipLast, kFanOutChipFirst, kInterposer };  // a single die in kMcm is its "SoC on OS"

struct Node {
  Dollars wafer_price;
  PerArea defect_density;
  Dollars design;  // per 300 mm^2
};
struct Settings {
  bool bumps_once_per_kind = false;
  bool fan_out_fixed_over_300 = false;
};

struct Die {
  double per_wafer = 0;
  double yield = 0;
  Dollars raw, good, defect;
  Dollars chip_design, module_design;
};
Die PriceDie(SquareMillimetres area, const Node& node);

// Dies of one kind in a package. A dummy is bonded silicon without a price.
struct Chips {
  SquareMillimetres area;
  Count count = 1;
  Node node;
  bool dummy = false;
};
struct Bill {
  Dollars raw_chips, defect_chips, raw_package, defect_package, wasted_chips;
  SquareMillimetres package_area;
  Dollars package_design;
  SquareMillimetres carrier_area;
  double carrier_yield = 1;
  Dollars raw_carrier, substrate;
  [[nodiscard]] Dollars Total() const { return raw_chips + defect_chips + raw_package + defect_package + wasted_chips; }
};
Bill PricePackage(Scheme scheme, const std::vector<Chips>& chips, const Settings& settings);

// A module split into n chips, each with a share of die-to-die area; a single chip has none.
struct Split {
  Scheme scheme = Scheme::kMcm;
  SquareMillimetres module;
  Count chips = 1;
  double link_overhead = 0.1;
  bool one_kind = false;  // equal chips share one design (and count as one kind for the bumps)
};
Bill PriceSplit(const Split& split, const Node& node, const Settings& settings);

struct Shared {
  Dollars recurring, modules, chips, links, package;
  [[nodiscard]] Dollars Total() const { return recurring + modules + chips + links + package; }
};
Shared PriceAtVolume(const Split& split, const Node& node, double volume, const Settings& settings);

// The smallest module area at which the one-die package costs at least as much as the split: a scan in steps of 1 %
// from 20 to 3,000 mm^2, then 80 bisections. Without a volume, only manufacturing cost counts.
std::optional<SquareMillimetres> Crossover(const Split& split, const Node& node, std::optional<double> volume,
                                           const Settings& settings);

}  // namespace slipstick::actuary
