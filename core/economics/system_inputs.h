// Inputs of the system around the devices: servers, network, data center, financing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/tally.h"
#include "core/economics/band.h"

namespace slipstick {

struct SystemInputs {
  std::string preset;
  Tally devices_per_host = 1;
  std::optional<Dollars> host;  // a server without its devices
  Ratio host_share = 0;         // server price as a share of its devices' price, when not given
  Ratio host_power = 1;         // server power as a ratio to the TDP of its devices
  Ratio load = 1;               // mean power draw as a share of server power
  Ratio pue = 1;                // facility power / server power
  Band pue_band;
  DollarsPerWatt power_delivery;
  DollarsPerWatt cooling;
  DollarsPerWatt building;
  DollarsPerJoule colocation;  // rent per power; if above 0, no building is paid for
  Tally switch_planes = 1;     // separate trees of switches; 1: rails meet in the spine switches
  // Overrides the ports of all levels; absent: the level's own.
  std::optional<Tally> switch_ports;
  std::optional<Dollars> switch_price, cables_one_tier, cables_two_tiers, cables_three_tiers;
  std::optional<DollarsPerBandwidth> link_price;
  // Network that the server's price and power include, per device; absent: the whole network inside it.
  std::optional<BytesPerSecond> fabric_included;  // bandwidth inside the server
  std::optional<Dollars> adapters_included;
  std::optional<Watts> adapter_power_included;
  Ratio maintenance = 0;      // per year, as a share of capital
  Ratio cost_of_capital = 0;  // per year
  Ratio utilisation = 1;      // share of the hours in use
  Band utilisation_band;
  Ratio margin = 0;  // of the operator, as a share of the price
};
template <>
struct Schema<SystemInputs> {
  static constexpr std::string_view preset_kind = "system";
  static constexpr std::string_view standard = "system";
  static const Fields fields;
};

}  // namespace slipstick
