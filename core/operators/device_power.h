// Power of a device at work, without the rest of its server.
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

// Rises from a floor for any running kernel to the TDP with the fractions of peak FLOP/s and memory bandwidth in use.
Watts PowerAtWork(const Device& device, const DeviceWork& work);

// Mean power of a device that draws its TDP for `busy` of `time` and idles otherwise, as in training.
Watts MeanPower(Watts idle, Watts tdp, Seconds busy, Seconds time);

}  // namespace slipstick
