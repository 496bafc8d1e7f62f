// Electricity at the meter: what the devices draw, what stands around them in the server, and the building.
#pragma once

#include "core/base/trace.h"
#include "core/economics/ownership.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// What comes on top of what a device itself draws. A device that draws `load` of its TDP then comes to the wall power that the
// electricity of a system and the carbon of a device-hour are reckoned with.
struct WallPower {
  Watts server;    // of CPUs, NICs, fans and power supplies: a device's share
  double pue = 1;  // power of the building over that of its servers
};
WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Trace& trace);

}  // namespace slipstick
