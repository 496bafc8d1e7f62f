// Copies between a device and its host.
#pragma once

#include "core/software/engine.h"

namespace slipstick {

// Of large copies over a link of bandwidth `host_link`.
BytesPerSecond RateOfCopies(BytesPerSecond host_link, const EngineCommunication& engine);

}  // namespace slipstick
