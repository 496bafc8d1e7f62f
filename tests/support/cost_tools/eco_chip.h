// ECO-CHIP's computations (Sudarshan et al., HPCA 2024; github.com/ASU-VDA-Lab/ECO-CHIP at fe998d9): carbon of
// manufacturing, designing and running a package of chiplets, for comparison digit by digit. The report's own carbon
// comes from carbon.h.
//
// Faults have settings, which are off by default. Areas are stated at 7 nm and scaled by node and kind of circuit.
#pragma once

#include <array>
#include <vector>

#include "core/economics/wafer.h"

namespace slipstick::eco_chip {

struct Settings {
  Millimetres wafer = 300 * kMm;
  bool always_90_iterations = false;  // ignores the stated number of design iterations
  bool rim_of_all_dies = false;       // divides the wafer's rim among all dies, including bad ones
  bool carrier_like_logic = false;    // gives a carrier the defect density of chips, not a quarter of it
  bool bridges_as_one = false;        // lets embedded bridges fail together, as one die with the sum of their areas
  bool routers_as_one = false;        // does the same for the routers of chips with one node
  // scales the area of through-silicon vias in stacked chips again
  bool stack_scaled_twice = false;

  static Settings AsTool() { return {450 * kMm, true, true, true, true, true, true}; }
};

enum class Circuit { kLogic, kAnalog, kSram };
inline constexpr std::size_t kCircuits = 3;

struct Node {
  std::array<double, kCircuits> area_scale{1, 1, 1};   // relative to 7 nm, by Circuit
  std::array<double, kCircuits> power_scale{1, 1, 1};  // relative to 7 nm
  GramsPerArea carbon;                                 // per area of processed wafer
  PerArea defect_density;
  PerArea transistors;
  double gates_per_hour = 0;  // implemented by one core of a compute farm
  double wiring_share = 0;    // of `carbon`, for the metal layers
  double dynamic_share = 0;   // of the power
};
struct Chip {
  Circuit circuit = Circuit::kLogic;
  SquareMillimetres area;  // at 7 nm
  Node node;
};

enum class Scheme { kRdl, kBridge, kPassive, kActive, kStacked };
struct Package {
  Scheme scheme = Scheme::kRdl;
  Node carrier;  // node of interposers and redistribution layers
  Node bridge;
  std::array<double, kCircuits> router_scale{1, 1, 1};  // router area (0.33 mm^2 at 14 nm) relative to 7 nm
  double redistribution_layers = 6, metal_layers = 8;
  Millimetres bridge_pitch = 10 * kMm;  // one bridge per this length of shared edge
  Millimetres via_pitch = 0.025 * kMm, via_size = 0.005 * kMm;
};
struct Product {
  Watts power;
  double iterations = 90;
  double volume = 1e5;
  double transistors_per_gate = 8;
  Watts core_power = 10 * kWatt;  // of the compute farm
  GramsPerJoule intensity = 700 * kGPerKWh;
  Seconds life = 17520 * kHour;
  double active = 0.2, on = 0.667, average = 0.1;
};

struct Footprint {
  Grams manufacture, design, operation;
  [[nodiscard]] Grams Total() const { return manufacture + design + operation; }
};
struct Bill {
  std::vector<Footprint> chips;
  Footprint package;  // manufacturing includes the routers
};
// A single chip has no package.
Bill Price(const std::vector<Chip>& chips, const Package& package, const Product& product, const Settings& settings);

// Negative binomial with ten critical levels.
double DieYield(SquareMillimetres area, PerArea defect_density);

// Side lengths of a floor plan that halves the chips by area, alternately along each side, with gaps of 0.5 mm; and the
// number of bridges along the halves' shared edges.
struct FloorPlan {
  std::array<Millimetres, 2> sides;
  double bridges = 0;
};
FloorPlan Plan(std::vector<SquareMillimetres> areas, Millimetres bridge_pitch, int axis = 0);

}  // namespace slipstick::eco_chip
