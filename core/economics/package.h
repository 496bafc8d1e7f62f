// A package as a list of assembly steps: the parts that each step adds, its cost and its yield loss.
//
// If a step fails, everything in the package is lost with it. So a chip-last flow makes and tests the carrier first and
// loses only bonding; a chip-first flow builds the carrier around the dies and loses them with it; dies stacked in
// groups that are tested separately are lost group by group. The order and the members of the list determine this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/economics/die.h"
#include "core/economics/memory_stack.h"

namespace slipstick {

enum class Part { kCarrier, kDies, kStackedDies, kMemory, kSubstrate };
ENUM_NAMES(Part, {kCarrier, "carrier"}, {kDies, "dies"}, {kStackedDies, "stacked_dies"}, {kMemory, "memory"},
           {kSubstrate, "substrate"});

struct AssemblyStep {
  std::string name = "bond";
  std::vector<Part> adds;
  Ratio yield_each = 1;   // per joined part (the substrate does not count)
  Band loss_band;         // band of 1 - yield_each
  Ratio yield = 1;        // of the step as a whole
  Tally groups = 1;       // equal sub-assemblies, each tested before the next step
  PerArea void_density;   // killer voids of a hybrid bond, per area of the joined dies
  Millimetres pad_pitch;  // of a hybrid bond; 0: pads are not counted
  Ratio pad_loss = 0;     // probability that one pad fails
  Dollars cost_each;      // per joined part
  Dollars cost;           // per step
};
FIELDS_OF(AssemblyStep);

// The carrier that joins dies: an RDL, a silicon or glass interposer, or bridges.
struct Carrier {
  Tally count = 1;
  Millimetres edge_each;  // bridges: shared edge per bridge, replaces the count; 0: as stated by the count
  std::optional<SquareMillimetres> area;  // of one; default: area_scale times the area of the parts on it
  Ratio area_scale = 1;
  Dollars wafer_price;
  Band wafer_price_band;
  PerArea defect_density;
  Ratio clustering = 1;
  Ratio stitch_yield = 1;  // per seam between two exposures
  bool stitched = false;   // seams count (carriers printed in several exposures)
  bool tested = true;      // false: its yield loss also scraps the dies (chip-first)
  GramsPerArea carbon;     // emissions of manufacturing
  friend bool operator==(const Carrier&, const Carrier&) = default;
};
template <>
struct Schema<Carrier> {
  static constexpr std::string_view standard = "carrier";
  static const Fields fields;
};

struct Substrate {
  DollarsPerArea price;
  Ratio layers_factor = 1;  // price relative to the simplest build-up
  Ratio area_scale = 1;     // area relative to the silicon on it
  std::optional<SquareMillimetres> area;
  friend bool operator==(const Substrate&, const Substrate&) = default;
};
FIELDS_OF(Substrate);

struct Package {
  std::string preset = "interposer";
  std::string name = "Silicon interposer";
  bool holds_hbm = true;                        // wires are fine enough for the thousand signals of a stack
  std::optional<SquareMillimetres> area_limit;  // largest area of dies and stacks side by side that can be made
  std::optional<Carrier> carrier = Carrier{};
  Substrate substrate;
  DollarsPerArea bumps;  // per area of the joined dies
  std::vector<AssemblyStep> steps;
  std::optional<Dollars> price;       // price from an assembly house, if known
  std::optional<Ratio> price_factor;  // without one: price of carrier, substrate and assembly over their cost here
  Band price_band;
  DollarsPerArea design;  // one-off, per area of the carrier (of the substrate, if there is no carrier)
  Dollars design_fixed;
};
template <>
struct Schema<Package> {
  static constexpr std::string_view preset_kind = "package";
  static constexpr std::string_view standard = "package";
  static const Fields fields;
};
// Price over cost of a package that is priced by its parts.
inline Ratio RateOf(const Package& package) { return package.price_factor.value_or(1); }
// Whether the price of one tells what another costs over its parts: both have the same carrier and substrate.
inline bool IsPricedAlike(const Package& a, const Package& b) {
  return a.preset == b.preset || (a.carrier == b.carrier && a.substrate == b.substrate);
}

// All parts of one kind.
struct PartsOfKind {
  Ratio count;
  SquareMillimetres area;
  Dollars cost;

  void operator+=(const PartsOfKind& other) { count += other.count, area += other.area, cost += other.cost; }
};
// The parts in a package, by kind.
struct PackageParts {
  PartsOfKind dies, stacked_dies, memory;

  [[nodiscard]] SquareMillimetres Standing() const { return dies.area + memory.area; }
};
// Numbers and areas; prices are added as the parts are priced.
PackageParts PartsOf(const std::vector<DieInput>& dies, const MemoryInput& memory);

// Areas and counts that depend only on geometry: computed once for many samples.
struct PackageGeometry {
  SquareMillimetres carrier_area;  // of one
  Ratio carriers = 1;
  Ratio carriers_per_wafer = 1;
  Ratio seams;
  SquareMillimetres substrate_area;
  SquareMillimetres design_area;  // area that determines its one-off design cost
};
PackageGeometry ComputeGeometry(const Package& package, const PackageParts& parts, const Wafer& wafer);

struct PackageCost {
  Dollars carrier, substrate, assembly, quoted;
  Dollars loss;     // value of everything that was lost in failing steps
  Ratio yield = 1;  // of all steps
  Dollars put_in;   // carrier + substrate + assembly + quoted + parts
};
PackageCost Assemble(const Package& package, const PackageParts& parts, const PackageGeometry& geometry);

}  // namespace slipstick
