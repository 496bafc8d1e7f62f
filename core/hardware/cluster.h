// Devices, how many, and the networks that join them.
#pragma once

#include "core/base/issue.h"
#include "core/hardware/device.h"
#include "core/hardware/network.h"

namespace slipstick {

struct Cluster {
  std::string preset;
  std::string name = "custom";
  Device device;
  Count devices = 8;
  std::vector<NetworkLevel> networks;  // innermost first
};
template <>
struct Schema<Cluster> {
  static constexpr std::string_view preset_kind = "cluster";
  static constexpr auto fields = std::tuple{
      Of("preset", &Cluster::preset, "Catalogue entry that the other members override"), Of("name", &Cluster::name, "What to call it"),
      Of("device", &Cluster::device, "The accelerator"), Of("devices", &Cluster::devices, "How many there are").Between(1, 1 << 24),
      Of("networks", &Cluster::networks, "Levels from the innermost out").Advanced()};
};

}  // namespace slipstick
