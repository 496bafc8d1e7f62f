// A package as a list of assembly steps: what each adds, its cost and its yield loss.
//
// Everything that is in the package when a step fails is lost with it. So a chip-last flow makes and tests the carrier
// first and loses only bonding, a chip-first flow builds the carrier around the dies and loses them with it, and dies
// stacked in groups that are tested apart are lost group by group: the order and the members of the list say which.
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
  Ratio yield_each = 1;   // of each part joined (the substrate is not counted)
  Band loss_band;         // of 1 - yield_each
  Ratio yield = 1;        // of the step as a whole
  Tally groups = 1;       // equal sub-assemblies, each tested before it goes on
  PerArea void_density;   // killer voids of a hybrid bond, over the area of the dies joined
  Millimetres pad_pitch;  // of a hybrid bond; 0: pads are not counted
  Ratio pad_loss = 0;     // chance that one pad fails
  Dollars cost_each;      // of joining one part
  Dollars cost;           // of the step
};
FIELDS_OF(AssemblyStep);

// The carrier that joins dies: an RDL, a silicon or glass interposer, or bridges.
struct Carrier {
  Tally count = 1;
  Millimetres edge_each;  // bridges: shared edge that one joins, in place of the count; 0: as many as the count says
  std::optional<SquareMillimetres> area;  // of one; default: area_scale times what stands on it
  Ratio area_scale = 1;
  Dollars wafer_price;
  Band wafer_price_band;
  PerArea defect_density;
  Ratio clustering = 1;
  Ratio stitch_yield = 1;  // of a seam between two exposures
  bool stitched = false;   // seams count (reticle-printed carriers)
  bool tested = true;      // false: its loss takes the dies with it (chip-first)
  GramsPerArea carbon;     // emitted in making it
};
template <>
struct Schema<Carrier> {
  static constexpr std::string_view standard = "carrier";
  static const Fields fields;
};

struct Substrate {
  DollarsPerArea price;
  Ratio layers_factor = 1;  // price over that of the simplest build-up
  Ratio area_scale = 1;     // area over that of the silicon on it
  std::optional<SquareMillimetres> area;
};
FIELDS_OF(Substrate);

struct Package {
  std::string preset = "interposer";
  std::string name = "Silicon interposer";
  bool holds_hbm = true;                        // wires fine enough for the thousand signals of a stack
  std::optional<SquareMillimetres> area_limit;  // of the dies and stacks side by side that can be made
  std::optional<Carrier> carrier = Carrier{};
  Substrate substrate;
  DollarsPerArea bumps;  // of the dies joined
  std::vector<AssemblyStep> steps;
  std::optional<Dollars> price;  // price from an assembly house, where known
  Band price_band;
  DollarsPerArea design;  // one-off, by area of the carrier (of the substrate without one)
  Dollars design_fixed;
};
template <>
struct Schema<Package> {
  static constexpr std::string_view preset_kind = "package";
  static constexpr std::string_view standard = "package";
  static const Fields fields;
};

// All parts of a kind.
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

// Areas and counts that depend on geometry alone: computed once for many draws.
struct PackageGeometry {
  SquareMillimetres carrier_area;  // of one
  Ratio carriers = 1;
  Ratio carriers_per_wafer = 1;
  Ratio seams;
  SquareMillimetres substrate_area;
  SquareMillimetres design_area;  // that its one-off design goes by
};
PackageGeometry ComputeGeometry(const Package& package, const PackageParts& parts, const Wafer& wafer);

struct PackageCost {
  Dollars carrier, substrate, assembly, quoted;
  Dollars loss;     // of everything that a failing step took with it
  Ratio yield = 1;  // of all steps
  Dollars put_in;   // carrier + substrate + assembly + quoted + parts
};
PackageCost Assemble(const Package& package, const PackageParts& parts, const PackageGeometry& geometry);

}  // namespace slipstick
