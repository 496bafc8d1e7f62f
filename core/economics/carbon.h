// Embodied carbon by component, and operational carbon. Silicon by the method of ACT (Gupta et al., ISCA 2022).
#pragma once

#include <string>
#include <vector>

#include "core/economics/device_bill.h"
#include "core/economics/energy.h"

namespace slipstick {

using GramsPerWatt = decltype(Grams() / Watts());
inline constexpr Unit<GramsPerWatt> kGPerW{"g/W", 1};

// A product carbon footprint (ISO 14067) of HGX H100 gives, for eight devices of 700 W and 80 GB, 1,312 kg: memory 546,
// ICs 332, thermal parts 230, electromechanical parts 52, assembly and test 8.6 % of the whole, transport 0.4 %.
struct CarbonInputs {
  GramsPerJoule fab_intensity;   // electricity of the fab (Taiwan)
  GramsPerJoule grid_intensity;  // electricity of the data center (USA)
  GramsPerArea materials;
  Grams package;          // of a packaged device (ACT)
  GramsPerArea laminate;  // of a bare board
  GramsPerWatt heat_sink_mass;
  Ratio heat_sink = 0;  // grams emitted per gram of aluminum
  GramsPerWatt regulators;
  Ratio assembly = 0;   // of what the parts emit
  GramsPerWatt system;  // of the server and the network around a device, by their mean power
};
FIELDS_OF(CarbonInputs);

// Per area of a good die: (intensity * energy + gas + materials) / yield.
GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials,
                           Ratio yield);

struct CarbonLine {
  std::string name;
  Grams carbon;
};
struct CarbonCost {
  std::vector<CarbonLine> lines;  // of a device
  Grams embodied;                 // the lines, added in order
  Grams server, network;          // a device's share of each
  Grams of_system;                // the device and its share
  GramsPerSecond operation;       // per device, its share of server and building included
  Grams operation_hour;           // in an hour of use
};
CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceGeometry& geometry, const DeviceCost& device,
                       const CarbonInputs& inputs, Watts tdp, const WallPower& wall);

}  // namespace slipstick
