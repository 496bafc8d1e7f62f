// Manufacturing cost per device: dies, memory, package, tests, and its share of the design cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/economics/package.h"

namespace slipstick {

struct BillLine {
  std::string name;
  Dollars cost;
};
Dollars Total(const std::vector<BillLine>& lines);  // added in order

inline constexpr double kMaxMargin = 0.99;  // a vendor's gross margin

// Test after assembly.
struct FinalTest {
  DollarsPerSecond rate;
  Seconds time;
  Ratio yield = 1;
  DollarsPerSecond system_rate;
  Seconds system_time;
  Ratio system_yield = 1;
};
FIELDS_OF(FinalTest);

// Design cost, shared by all packages made. A node's `design` is for a 300 mm^2 die: module_share of it scales with the
// area of the modules, chip_share with the area of the chip, and the rest is fixed.
struct Design {
  Tally volume = 1;  // packages over the product's life
  Ratio module_share = 0;
  Ratio chip_share = 0;
  // die-to-die interface, designed once per node if there is more than one die
  SquareMillimetres link_area;
};
FIELDS_OF(Design);

struct DeviceBill {
  std::string preset;
  std::string name;
  std::vector<DieInput> dies;
  MemoryInput memory;
  Package package;
  Wafer wafer;
  SortTest sort;
  FinalTest test;
  Design design;
  SquareMillimetres board_area;  // of a full-length card
  Dollars module;                // board, power stages, heat spreader and their assembly
  Ratio margin = 0;              // as a share of the price, if no price is given
  std::optional<Dollars> price;  // what a buyer pays
  std::optional<Count> price_year;
  Band price_band;
};
template <>
struct Schema<DeviceBill> {
  static constexpr std::string_view preset_kind = "bill";
  static constexpr std::string_view standard = "bill";
  static const Fields fields;
};

// The part that depends only on areas: computed once and reused for every Monte-Carlo sample.
struct DeviceGeometry {
  std::vector<Ratio> dies_per_wafer;  // per die of the bill
  PackageGeometry package;
};
DeviceGeometry ComputeGeometry(const DeviceBill& bill);

struct DeviceCost {
  std::vector<DieCost> dies;  // per die of the bill
  std::vector<BillLine> lines;
  Dollars total;    // the lines, added in order
  Dollars price;    // what a buyer pays
  Dollars package;  // carrier, substrate and assembly
  Ratio package_yield = 1;
  Ratio yield = 1;  // good packages per package started
};
DeviceCost PriceDevice(const DeviceBill& bill, const DeviceGeometry& geometry);
// From now on prices a quoted package by its parts, at the present ratio of the quote to their cost.
void PriceByParts(DeviceBill& bill);
// The gross margin that the price leaves.
double MarginOf(const DeviceCost& cost);

// One-off cost of a bill's designs: modules and chips of each die, links of each node, the package.
struct DesignCost {
  Dollars total;  // of all designs
  Dollars share;  // per package, with reuse by other products taken into account
};
DesignCost PriceDesign(const DeviceBill& bill, const DeviceGeometry& geometry);

// A warning if HBM stacks are on a package that cannot carry them: a stack has a thousand signals, which are too fine
// for the wiring of an organic substrate.
std::optional<std::string> CarrierWarning(const DeviceBill& bill);

}  // namespace slipstick
