// Electricity at the meter: devices, the rest of their servers, the network, and the building.
#pragma once

#include "core/economics/ownership.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Power in addition to a device's own draw. A device at `load` of its TDP then draws exactly `mean`, the wall power
// that TCO and operational carbon use.
struct WallPower {
  Watts rated;    // the most that CPUs, NICs, fans and power supplies draw, per device
  Watts server;   // what they draw at mean load
  Watts network;  // switches and optics outside the servers, per device
  Ratio pue = 1;  // facility power / server power
  Watts mean;     // per device with its share of server, network, cooling and power distribution
};
// `network_power`: of all devices
WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Watts network_power);

}  // namespace slipstick
