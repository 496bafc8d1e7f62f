// A number of equal devices and the network levels that join them.
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
  Count devices = 8;
  std::vector<NetworkLevel> networks;  // innermost first
  CollectiveChoice collectives;
};
// The bandwidth that stands for a chip without links: times over it stay finite, and what would take them is
// infeasible.
inline constexpr BytesPerSecond kNoLinks = 1 * kBps;
inline bool HasLinks(const Cluster& cluster) {
  return cluster.networks.empty() || cluster.networks.front().bandwidth > kNoLinks;
}

template <>
struct Schema<Cluster> {
  static constexpr std::string_view preset_kind = "cluster";
  static const Fields fields;
};

}  // namespace slipstick
