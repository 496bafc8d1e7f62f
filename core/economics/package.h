// A package as a list of steps: what each adds, what it costs, what it loses.
//
// Everything that is in the package when a step fails is lost with it. So a chip-last flow makes and tests the carrier
// first and loses only bonding, a chip-first flow builds the carrier around the dies and loses them with it, and dies
// stacked in groups that are tested apart are lost group by group: the order and the members of the list say which.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/economics/die.h"
#include "core/economics/memory_stack.h"

namespace slipstick {

enum class Part { kCarrier, kDies, kStackedDies, kMemory, kSubstrate };
template <>
struct EnumNames<Part> {
  static constexpr std::array<std::pair<Part, std::string_view>, 5> names{{{Part::kCarrier, "carrier"},
                                                                           {Part::kDies, "dies"},
                                                                           {Part::kStackedDies, "stacked_dies"},
                                                                           {Part::kMemory, "memory"},
                                                                           {Part::kSubstrate, "substrate"}}};
};

struct AssemblyStep {
  std::string name = "bond";
  std::vector<Part> adds;
  double yield_each = 1;  // of each part joined (the substrate is not counted)
  Band loss_band;         // of 1 - yield_each
  double yield = 1;       // of the step as a whole
  Count groups = 1;       // equal sub-assemblies, each tested before it goes on
  PerArea void_density;   // killing voids of a hybrid bond, over the area of the dies joined
  Millimetres pad_pitch;  // of a hybrid bond; 0: pads are not counted
  double pad_loss = 0;    // chance that one pad fails
  Dollars cost_each;      // of joining one part
  Dollars cost;           // of the step
};
template <>
struct Schema<AssemblyStep> {
  static constexpr auto fields = std::tuple{
      Of("name", &AssemblyStep::name, "What to call it"),
      Of("adds", &AssemblyStep::adds, "What it puts in").Advanced(),
      Of("yield_each", &AssemblyStep::yield_each, "Yield of each part joined").Above(0).AtMost(1),
      Of("loss_band", &AssemblyStep::loss_band, "How far the loss of a part may lie from that").Advanced(),
      Of("yield", &AssemblyStep::yield, "Yield of the step as a whole").Above(0).AtMost(1),
      Of("groups", &AssemblyStep::groups, "Equal sub-assemblies, each tested before it goes on").Between(1, 1024).Advanced(),
      Of("void_density", &AssemblyStep::void_density, "Killing voids of a hybrid bond").In(kPerCm2).Between(0, 100).Advanced(),
      Of("pad_pitch", &AssemblyStep::pad_pitch, "Pitch of a hybrid bond's pads; 0: not counted").In(kMm).Between(0, 10).Advanced(),
      Of("pad_loss", &AssemblyStep::pad_loss, "Chance that one pad fails").Between(0, 1).Advanced(),
      Of("cost_each", &AssemblyStep::cost_each, "Of joining one part").In(kUsd).AtLeast(0).AtMost(1e6).Advanced(),
      Of("cost", &AssemblyStep::cost, "Of the step").In(kUsd).AtLeast(0).AtMost(1e6).Advanced()};
};

// What dies are joined through: an RDL, a silicon or glass interposer, or bridges.
struct Carrier {
  Count count = 1;
  std::optional<SquareMillimetres> area;  // of one; default: area_scale times what stands on it
  double area_scale = 1.1;
  Dollars wafer_price = 1937 * kUsd;
  Band wafer_price_band;
  PerArea defect_density = 0.06 * kPerCm2;
  double clustering = 6;
  double stitch_yield = 0.995;           // of a seam between two exposures
  bool stitched = false;                 // seams count (reticle-printed carriers)
  bool tested = true;                    // false: its loss takes the dies with it (chip-first)
  GramsPerArea carbon = 720 * kGPerCm2;  // emitted in making it
};
template <>
struct Schema<Carrier> {
  static constexpr auto fields = std::tuple{
      Of("count", &Carrier::count, "How many (bridges)").Between(1, 1024).Advanced(),
      Of("area", &Carrier::area, "Of one; otherwise in proportion to what stands on it").In(kMm2).Above(0).AtMost(60000).Advanced(),
      Of("area_scale", &Carrier::area_scale, "Area over that of what stands on it").Between(0.01, 100).Advanced(),
      Of("wafer_price", &Carrier::wafer_price, "A processed wafer or panel of 300 mm").In(kUsd).AtLeast(0).AtMost(1e6),
      Of("wafer_price_band", &Carrier::wafer_price_band, "How far the price may lie from that").Advanced(),
      Of("defect_density", &Carrier::defect_density, "Killing defects per area").In(kPerCm2).Between(0, 100).Advanced(),
      Of("clustering", &Carrier::clustering, "Alpha of its negative binomial").Between(0.1, 1e9).Advanced(),
      Of("stitch_yield", &Carrier::stitch_yield, "Of a seam between two exposures").Above(0).AtMost(1).Advanced(),
      Of("stitched", &Carrier::stitched, "Exposures are stitched where it exceeds the reticle").Advanced(),
      Of("tested", &Carrier::tested, "Tested before dies go on it (chip-last)").Advanced(),
      Of("carbon", &Carrier::carbon, "Emitted in making it, by area").In(kGPerCm2).AtLeast(0).AtMost(1e5).Advanced()};
};

struct Substrate {
  DollarsPerArea price = 0.005 * kUsdPerMm2;
  double layers_factor = 2;  // price over that of the simplest build-up
  double area_scale = 4;     // area over that of the silicon on it
  std::optional<SquareMillimetres> area;
};
template <>
struct Schema<Substrate> {
  static constexpr auto fields =
      std::tuple{Of("price", &Substrate::price, "Of the simplest build-up").In(kUsdPerMm2).AtLeast(0).AtMost(1000).Advanced(),
                 Of("layers_factor", &Substrate::layers_factor, "Price over that of the simplest build-up").Between(0, 100).Advanced(),
                 Of("area_scale", &Substrate::area_scale, "Area over that of the silicon on it").Between(0.1, 100).Advanced(),
                 Of("area", &Substrate::area, "Its area; otherwise in proportion to the silicon").In(kMm2).Above(0).AtMost(1e6).Advanced()};
};

struct Package {
  std::string preset = "interposer";
  std::string name = "Silicon interposer";
  bool holds_hbm = true;  // wires fine enough for the thousand signals of a stack
  std::optional<Carrier> carrier = Carrier{};
  Substrate substrate;
  DollarsPerArea bumps = 0.01 * kUsdPerMm2;  // of the dies joined
  std::vector<AssemblyStep> steps;
  std::optional<Dollars> price;  // what an assembler asks for carrier, substrate and assembly, where that is known
  Band price_band;
  DollarsPerArea design = 33600 * kUsdPerMm2;  // one-off, by area of the carrier (of the substrate without one)
  Dollars design_fixed = 6.72 * kMUsd;
};
template <>
struct Schema<Package> {
  static constexpr std::string_view preset_kind = "package";
  static constexpr auto fields = std::tuple{
      Of("preset", &Package::preset, "Catalogue entry that the other members override"),
      Of("name", &Package::name, "What to call it"),
      Of("holds_hbm", &Package::holds_hbm, "Fine-pitch wiring that HBM stacks need: an interposer, bridges or an RDL").Advanced(),
      Of("carrier", &Package::carrier, "What the dies are joined through; null: the substrate alone").Advanced(),
      Of("substrate", &Package::substrate, "The board of the package").Advanced(),
      Of("bumps", &Package::bumps, "Bumps, by area of the dies joined").In(kUsdPerMm2).AtLeast(0).AtMost(100).Advanced(),
      Of("steps", &Package::steps, "In order: what each adds, costs and loses").Advanced(),
      Of("price", &Package::price, "What an assembler asks for carrier, substrate and assembly; null: worked out")
          .In(kUsd)
          .AtLeast(0)
          .AtMost(1e6),
      Of("price_band", &Package::price_band, "How far the price may lie from that").Advanced(),
      Of("design", &Package::design, "One-off design, by area of the carrier").In(kUsdPerMm2).AtLeast(0).AtMost(1e6).Advanced(),
      Of("design_fixed", &Package::design_fixed, "One-off design, whatever the area").In(kMUsd).AtLeast(0).AtMost(1e4).Advanced()};
};

// What goes in.
struct PackageParts {
  Count dies = 0, stacked_dies = 0, stacks = 0;
  SquareMillimetres die_area, stacked_area, memory_area;  // of all of a kind
  Dollars die_cost, stacked_cost, memory_cost;            // of all of a kind
};

// Areas and counts that depend on geometry alone: computed once for many draws.
struct PackageGeometry {
  SquareMillimetres carrier_area;  // of one
  Count carriers_per_wafer = 0;
  Count seams = 0;
  SquareMillimetres substrate_area;
  SquareMillimetres design_area;  // that its one-off design goes by
};
PackageGeometry LayOut(const Package& package, const PackageParts& parts, const Wafer& wafer);

struct PackageCost {
  Dollars carrier, substrate, assembly, quoted;
  Dollars loss;      // of everything that a failing step took with it
  double yield = 1;  // of all steps
  Dollars put_in;    // carrier + substrate + assembly + quoted + parts
};
PackageCost Assemble(const Package& package, const PackageParts& parts, const PackageGeometry& geometry, Trace& trace);

}  // namespace slipstick
