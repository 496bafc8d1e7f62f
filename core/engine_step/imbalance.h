// How unevenly the routed tokens fall on the devices.
#pragma once

#include "core/engine_step/deployment.h"

namespace slipstick {

// Tokens of the busiest device over the mean.
Ratio ImbalanceOf(const Deployment& deployment);

}  // namespace slipstick
