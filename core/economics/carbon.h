// Embodied carbon by the method of ACT (Gupta et al., ISCA 2022), and that of running.
#pragma once

#include "core/economics/device_bill.h"

namespace slipstick {

struct CarbonInputs {
  GramsPerJoule fab_intensity = 583 * kGPerKWh;   // electricity of the fab (Taiwan)
  GramsPerJoule grid_intensity = 380 * kGPerKWh;  // electricity of the data centre (USA)
  GramsPerArea materials = 500 * kGPerCm2;
  Grams package = 150 * kGram;  // of a packaged device
};
template <>
struct Schema<CarbonInputs> {
  static constexpr auto fields =
      std::tuple{Of("fab_intensity", &CarbonInputs::fab_intensity, "Electricity of the fab").In(kGPerKWh).AtLeast(0).AtMost(5000),
                 Of("grid_intensity", &CarbonInputs::grid_intensity, "Electricity of the data centre").In(kGPerKWh).AtLeast(0).AtMost(5000),
                 Of("materials", &CarbonInputs::materials, "Raw materials of a wafer").In(kGPerCm2).AtLeast(0).Advanced(),
                 Of("package", &CarbonInputs::package, "Of a packaged device").In(kGram).AtLeast(0).Advanced()};
};

// Per area of a good die: (intensity * energy + gas + materials) / yield.
GramsPerArea CarbonPerArea(GramsPerJoule intensity, JoulesPerArea energy, GramsPerArea gas, GramsPerArea materials, double yield);

struct CarbonCost {
  Grams embodied;            // of a device
  GramsPerSecond operation;  // of a device while it is there, its share of server and building included
};
CarbonCost PriceCarbon(const DeviceBill& bill, const DeviceCost& device, const CarbonInputs& inputs, Watts wall_power, Trace& trace);

}  // namespace slipstick
