// Power that a device draws at work, without the rest of its server.
#pragma once

#include "core/hardware/device.h"

namespace slipstick {

// FLOPs and bytes of some kernels, and the time in which they run.
struct DeviceWork {
  Flops flops;
  Bytes bytes;
  FlopsPerSecond peak_rate;
  Seconds time;
};

// Rises from that of a device whose kernels stress nothing to the TDP, with the use of its units and of its memory.
Watts PowerAtWork(const Device& device, const DeviceWork& work);

// Of a device that computes near its limits for `busy` of `time` and waits otherwise, as in training.
Watts MeanPower(Watts idle, Watts tdp, Seconds busy, Seconds time);

}  // namespace slipstick
