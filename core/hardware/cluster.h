// Identical devices and the network levels that join them.
#pragma once

#include "core/base/issue.h"
#include "core/hardware/collective_choice.h"
#include "core/hardware/device.h"
#include "core/hardware/network.h"

namespace slipstick {

struct Cluster {
  std::string preset;
  std::string name = "custom";
  Device device;
  Tally devices = 8;
  std::vector<NetworkLevel> networks;  // innermost first
  CollectiveChoice collectives;
  bool has_links = true;  // false: its chip is designed without links, so nothing can cross from device to device
  Tally installed = 0;    // where `devices` are only some of a larger cluster's: all of them, which share the servers
};
template <>
struct Schema<Cluster> {
  static constexpr std::string_view preset_kind = "cluster";
  static const Fields fields;
};

}  // namespace slipstick
