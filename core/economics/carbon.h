// Embodied carbon by component, and operational carbon. Silicon by the method of ACT (Gupta et al., ISCA 2022).
#pragma once

#include <string>
#include <vector>

#include "core/economics/device_bill.h"

namespace slipstick {

using GramsPerWatt = decltype(Grams() / Watts());
inline constexpr Unit<GramsPerWatt> kGPerW{"g/W", 1};

// A product carbon footprint (ISO 14067) of HGX H100 gives, for eight devices of 700 W and 80 GB, 1,312 kg: memory 546,
// ICs 332, thermal parts 230, electromechanical parts 52, assembly and test 8.6 % of the whole, transport 0.4 %.
struct CarbonInputs {
  GramsPerJoule fab_intensity = 583 * kGPerKWh;   // electricity of the fab (Taiwan)
  GramsPerJoule grid_intensity = 380 * kGPerKWh;  // electricity of the data center (USA)
  GramsPerArea materials = 500 * kGPerCm2;
  Grams package = 150 * kGram;              // of a packaged device (ACT)
  GramsPerArea laminate = 32.5 * kGPerCm2;  // Boavizta and ADEME 2025: 0.0325 kg/cm^2 of a graphics card's bare board
  GramsPerWatt heat_sink_mass = 2.4 * kGPerW;  // HGX H100 weighs 24 kg: about 1.7 kg of heat sink each device of 700 W
  double heat_sink = 15.1;  // grams emitted per gram of aluminum (International Aluminium Institute, as in ACT)
  GramsPerWatt regulators = 9.3 * kGPerW;  // HGX H100: 52 kg of electromechanical parts for 5.6 kW
  double assembly = 0.094;                 // HGX H100: 8.6 % of the whole over the 91 % that the parts are
};
template <>
struct Schema<CarbonInputs> {
  static const Fields fields;
};

// Per area of a good die: (intensity * energy + gas + materials) / yield.
GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials,
                           double yield);

struct CarbonLine {
  std::string name;
  Grams carbon;
};
struct CarbonCost {
  std::vector<CarbonLine> lines;  // of a device
  Grams embodied;                 // the lines, added in order
  GramsPerSecond operation;       // per device, its share of server and building included
};
CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceGeometry& geometry, const DeviceCost& device,
                       const CarbonInputs& inputs, Watts tdp, Watts wall_power, Trace& trace);

}  // namespace slipstick
