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

// Inputs for devices of another kind than the cluster's.
struct PoolInputs {
  DeviceBill device;
  SystemInputs system;
  std::optional<Rental> rental;  // replaces buying and running the system
};
FIELDS_OF(PoolInputs);

struct CostInputs {
  DollarsPerJoule electricity;
  Band electricity_band;
  Seconds lifetime;
  Band lifetime_band;
  DeviceBill device;
  SystemInputs system;
  std::optional<Rental> rental;            // replaces buying and running the system
  std::optional<PoolInputs> prefill_pool;  // of another kind of device than the cluster's
  CarbonInputs carbon;
};
template <>
struct Schema<CostInputs> {
  static constexpr std::string_view standard = "cost";
  static const Fields fields;
};

}  // namespace slipstick
