// What things cost: electricity, lifetime, prices. The cost engine's other inputs join here.
#pragma once

#include "core/base/field.h"

namespace slipstick {

struct CostInputs {
  DollarsPerJoule electricity = 0.08 * kUsdPerKWh;
  Seconds lifetime = 4 * kYear;
};
template <>
struct Schema<CostInputs> {
  static constexpr auto fields =
      std::tuple{Of("electricity", &CostInputs::electricity, "Price of electricity").In(kUsdPerKWh).AtLeast(0),
                 Of("lifetime", &CostInputs::lifetime, "Years over which the system is written off").In(kYear).Above(0).AtMost(100)};
};

}  // namespace slipstick
