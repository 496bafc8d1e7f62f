// Reads of an attention kernel through the L2.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Time to read bytes of a working set that may be in L2: nothing comes from memory while the set fits in the usable L2,
// everything from 1.5 times that size on. Recorded as the figure read_time.
struct Reading {
  Seconds time;
  Bound bound = Bound::kMemory;
};
Reading ReadThroughL2(Bytes bytes, Bytes working_set, double memory_share, const Device& device, Trace& trace);

}  // namespace slipstick
