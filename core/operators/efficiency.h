// How near a device's kernels come to its data sheet: the device's own measured figures, and rules where there are none.
#pragma once

#include "core/hardware/device.h"
#include "core/workload/precision.h"

namespace slipstick {

// The dense rate at which a precision is computed: its own, or the next wider format's.
FlopsPerSecond PeakRate(const Device& device, Precision precision);
// Rate streamed out of the last cache (R).
BytesPerSecond CacheRate(const Device& device);
// Capacity of the last cache shared by all units; 0 where there is none.
Bytes LastCache(const Device& device);
// What a program can allocate.
Bytes UsableMemory(const Device& device);

// Fills every absent member of device.efficiency and device.memory.usable by the rules for a device known by its data
// sheet only, and remembers which it filled.
struct Assumed {
  bool matrix = false, power_fall = false, sustained_fall = false, stream = false, launch = false, attention = false, usable = false;
};
Assumed CompleteEfficiency(Device& device);

}  // namespace slipstick
