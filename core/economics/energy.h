// Electricity at the meter: devices, the rest of their servers, and the building.
#pragma once

#include "core/base/trace.h"
#include "core/economics/ownership.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Power on top of a device's own draw. A device at `load` of its TDP then reaches exactly the wall power that TCO and
// operational carbon use.
struct WallPower {
  Watts server;    // CPUs, NICs, fans and power supplies, per device
  double pue = 1;  // facility power / server power
};
// Mean power of a device with its share of the server, cooling and power distribution.
Watts PowerAtTheMeter(const Cluster& cluster, const SystemInputs& inputs, Trace& trace);

WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Trace& trace);

}  // namespace slipstick
