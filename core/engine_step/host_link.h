// Copies between a device and its host.
#pragma once

#include "core/base/trace.h"
#include "core/software/engine.h"

namespace slipstick {

// Of large copies over a link of bandwidth `host_link`. Recorded as host_rate.
BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine);
BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine, Trace& trace);

}  // namespace slipstick
