// Reads of an attention kernel through the L2.
#pragma once

#include <string_view>

#include "core/hardware/device.h"
#include "core/operators/kernel.h"

namespace slipstick {

// Time to read bytes of a working set that may be in L2: nothing comes from memory while the set fits in the usable L2,
// everything from 1.5 times that size on.
struct Reading {
  Seconds time;
  Bound bound = Bound::kMemory;
};
Reading ReadThroughL2(Bytes bytes, Bytes working_set, Ratio memory_share, const Device& device,
                      std::string_view source);

}  // namespace slipstick
