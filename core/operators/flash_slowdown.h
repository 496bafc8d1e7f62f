// Attention by a stated version of FlashAttention.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/attention.h"
#include "core/software/flash_version.h"

namespace slipstick {

// Time of the isolated core with this version over that with the fastest kernel of the device's family, at least 1. A
// version is never slower than an earlier one; one that the family has no kernel of counts as the newest that it has.
double FlashSlowdown(FlashVersion version, Attention core, const Device& device);

}  // namespace slipstick
