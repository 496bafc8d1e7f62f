#include "core/operators/device_power.h"

#include "core/base/figure.h"
#include "core/operators/kernel_family.h"

namespace slipstick {

Watts PowerAtWork(const Device& device, const DeviceWork& work) {
  const Ratio use =
      Figure("Use of the device",
             min(1.0, work.flops / (work.peak_rate * work.time) + work.bytes / (device.memory.bandwidth * work.time)),
             "share of its peak plus share of its memory bandwidth, at most 1");
  const Watts running = Figure("Power of a device that runs kernels",
                               min(device.tdp, max(device.idle, device.architecture->step.active_power * device.tdp)),
                               "before they stress its units or its memory");
  return Figure("Power per device at work", running + (device.tdp - running) * use, "without the rest of the server");
}

Watts MeanPower(Watts idle, Watts tdp, Seconds busy, Seconds time) {
  return Figure("Mean power per device", idle + (tdp - idle) * busy / time,
                "TDP while it computes, idle power while it waits");
}

}  // namespace slipstick
