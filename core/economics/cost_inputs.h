// Inputs of every cost: the device, the system around it, electricity, carbon.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/economics/carbon.h"
#include "core/economics/device_bill.h"
#include "core/economics/ownership.h"
#include "core/economics/rental.h"

namespace slipstick {

struct CostInputs {
  DollarsPerJoule electricity = 0.08 * kUsdPerKWh;
  Band electricity_band{0.75, 1.5};
  Seconds lifetime = 4 * kYear;
  Band lifetime_band{0.75, 1.25};
  DeviceBill device;
  SystemInputs system;
  std::optional<Rental> rental;  // in place of buying and running the system
  CarbonInputs carbon;
};
template <>
struct Schema<CostInputs> {
  static const Fields fields;
};

}  // namespace slipstick
