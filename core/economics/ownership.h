// Total cost of ownership (capital, financing, power, hosting, maintenance) and cost per GPU-hour.
#pragma once

#include <string>
#include <vector>

#include "core/economics/band.h"
#include "core/economics/device_bill.h"
#include "core/hardware/cluster.h"

namespace slipstick {

inline constexpr double kHoursPerYear = 8760;  // an accounting year

struct SystemInputs {
  std::string preset;
  Count devices_per_host = 8;
  std::optional<Dollars> host;  // a server without its devices
  double host_share = 0.16;     // server price as a share of its devices' price, when not given
  double host_power = 1.82;     // server power as a ratio to the TDP of its devices
  double load = 0.75;           // mean power draw as a share of server power
  double pue = 1.25;            // facility power / server power
  Band pue_band{0.88, 1.23};
  DollarsPerWatt power_delivery = 2.2 * kUsdPerW;
  DollarsPerWatt cooling = 1.0 * kUsdPerW;
  DollarsPerWatt building = 1.8 * kUsdPerW;
  DollarsPerJoule colocation;  // rent per power; above 0, no building is paid for
  Count switch_ports = 64;
  Dollars switch_price = 36000 * kUsd;
  Dollars cables_one_tier = 1320 * kUsd;  // cables and optics of a device
  Dollars cables_two_tiers = 2560 * kUsd;
  Dollars cables_three_tiers = 3800 * kUsd;
  DollarsPerBandwidth link_price = 4 * kUsdPerGBps;  // of a direct link, one end to the other
  double maintenance = 0.03;                         // per year, as a share of capital
  double cost_of_capital = 0.08;                     // per year
  double utilisation = 0.9;                          // share of the hours in use
  Band utilisation_band{0.7, 1.1};
  double margin = 0;  // operator's, as a share of the price
};
template <>
struct Schema<SystemInputs> {
  static constexpr std::string_view preset_kind = "system";
  static const Fields fields;
};

// Annuity: yearly payment per dollar of capital over L years at interest r: r / (1 - (1+r)^-L), 1/L at r = 0.
double Annuity(double rate, double years);

// Cost per GPU-hour from capital, in closed form.
struct OwnershipInputs {
  Dollars capital;  // all-in, per device
  double years = 4;
  double cost_of_capital = 0;
  Watts power;  // wall power of a device with its share of the host and network
  double pue = 1.25;
  DollarsPerJoule electricity;
  double load = 1;
  DollarsPerJoule colocation;  // rent by power over months of 1/12 year of 8,766 h
  double upkeep = 0;           // per year, as a share of capital
  double utilisation = 1;
};
DollarsPerSecond DeviceHour(const OwnershipInputs& inputs);

struct SystemCost {
  std::vector<BillLine> lines;  // over the lifetime
  Dollars total;
  std::vector<BillLine> hour_lines;  // of a device in use
  Dollars device_hour;               // the lines, added in order
  DollarsPerSecond device_second;
  Joules energy;  // drawn over the lifetime, building included
};
SystemCost PriceSystem(const Cluster& cluster, const SystemInputs& inputs, Dollars device_price, Seconds lifetime,
                       DollarsPerJoule electricity, Trace& trace);

}  // namespace slipstick
