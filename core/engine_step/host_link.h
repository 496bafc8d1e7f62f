// Copies between a device and its host.
#pragma once

#include "core/base/trace.h"

namespace slipstick {

// Of large copies over a link of bandwidth `host_link`. Recorded as host_rate.
BytesPerSecond RateOfCopies(BytesPerSecond host_link, Trace& trace);

}  // namespace slipstick
