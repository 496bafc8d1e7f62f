// What things cost: the device, the system around it, electricity, carbon.
#pragma once

#include "core/base/field.h"
#include "core/economics/carbon.h"
#include "core/economics/device_bill.h"
#include "core/economics/ownership.h"

namespace slipstick {

struct CostInputs {
  DollarsPerJoule electricity = 0.08 * kUsdPerKWh;
  Band electricity_band{0.75, 1.5};
  Seconds lifetime = 4 * kYear;
  Band lifetime_band{0.75, 1.25};
  DeviceBill device;
  SystemInputs system;
  CarbonInputs carbon;
};
template <>
struct Schema<CostInputs> {
  static constexpr auto fields =
      std::tuple{Of("electricity", &CostInputs::electricity, "Price of electricity").In(kUsdPerKWh).AtLeast(0),
                 Of("electricity_band", &CostInputs::electricity_band, "How far it may lie from that").Advanced(),
                 Of("lifetime", &CostInputs::lifetime, "Years over which the system is written off").In(kYear).Above(0).AtMost(100),
                 Of("lifetime_band", &CostInputs::lifetime_band, "How far it may lie from that").Advanced(),
                 Of("device", &CostInputs::device, "What a device is made of"),
                 Of("system", &CostInputs::system, "What stands around the devices"),
                 Of("carbon", &CostInputs::carbon, "What making and running them emits").Advanced()};
};

}  // namespace slipstick
