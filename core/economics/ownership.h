// Total cost of ownership (capital, financing, power, hosting, maintenance) and cost per GPU-hour.
#pragma once

#include <string>
#include <vector>

#include "core/economics/device_bill.h"
#include "core/economics/network_cost.h"
#include "core/economics/rental.h"
#include "core/economics/system_inputs.h"
#include "core/hardware/cluster.h"

namespace slipstick {

inline constexpr double kHoursPerYear = 8760;  // in an accounting year

// Annuity: yearly payment per dollar of capital over L years at interest r: r / (1 - (1+r)^-L), 1/L at r = 0.
Ratio Annuity(Ratio rate, Ratio years);

struct SystemCost {
  std::vector<BillLine> lines;  // over the lifetime
  Dollars total;
  std::vector<BillLine> hour_lines;  // per device in use
  Dollars device_hour;               // the lines, added in order
  DollarsPerSecond device_second;
  Joules energy;        // drawn over the lifetime, building included
  Watts network_power;  // of all devices, outside the servers' own power
};
// How long a system is owned, and the price of its electricity.
struct SystemUse {
  Seconds lifetime;
  DollarsPerJoule electricity;
};
// Cost of a system that is rented at a price per GPU-hour for `lifetime`. A reservation is paid for every hour, busy or
// idle, other rentals only for the hours in use. `network`: what joins the devices.
SystemCost RentSystem(const Cluster& cluster, const SystemInputs& inputs, const NetworkCost& network,
                      const Rental& rental, Seconds lifetime);
SystemCost PriceSystem(const Cluster& cluster, const SystemInputs& inputs, const NetworkCost& network,
                       Dollars device_price, const SystemUse& use);

}  // namespace slipstick
