// Embodied carbon by component, and operational carbon. Silicon follows the method of ACT (Gupta et al., ISCA 2022).
#pragma once

#include <string>
#include <vector>

#include "core/economics/device_bill.h"
#include "core/economics/energy.h"

namespace slipstick {

using GramsPerWatt = decltype(Grams() / Watts());
inline constexpr Unit<GramsPerWatt> kGPerW{"g/W", 1};

// A product carbon footprint (ISO 14067) of HGX H100 states 1,312 kg for eight devices of 700 W and 80 GB: memory 546,
// ICs 332, thermal parts 230, electromechanical parts 52; assembly and test 8.6 % of the whole, transport 0.4 %.
struct CarbonInputs {
  GramsPerJoule fab_intensity;   // electricity of the fab (Taiwan)
  GramsPerJoule grid_intensity;  // electricity of the data center (USA)
  GramsPerArea materials;
  Grams package;          // per packaged device (ACT)
  GramsPerArea laminate;  // per area of a bare board
  GramsPerWatt heat_sink_mass;
  Ratio heat_sink = 0;  // grams emitted per gram of aluminum
  GramsPerWatt regulators;
  Ratio assembly = 0;   // as a share of the parts' emissions
  GramsPerWatt system;  // per mean power of the server and the network around a device
};
FIELDS_OF(CarbonInputs);

// Carbon per area of a good die: (intensity * energy + gas + materials) / yield.
GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials,
                           Ratio yield);

struct CarbonLine {
  std::string name;
  Grams carbon;
};
struct CarbonCost {
  std::vector<CarbonLine> lines;  // per device
  Grams embodied;                 // the lines, added in order
  Grams server, network;          // a device's share of each
  Grams of_system;                // the device with its share of server and network
  GramsPerSecond operation;       // per device, including its share of server and building
  Grams operation_hour;           // per hour of use
};
CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceGeometry& geometry, const DeviceCost& device,
                       const CarbonInputs& inputs, Watts tdp, const WallPower& wall);

}  // namespace slipstick
