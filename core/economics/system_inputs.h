// Inputs of the system around the devices: servers, network, data center, financing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/economics/band.h"

namespace slipstick {

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

}  // namespace slipstick
