// How unevenly the routed tokens fall on the devices.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"

namespace slipstick {

// Tokens of the busiest device over the mean.
double ImbalanceOf(const Deployment& deployment, Trace& trace);

}  // namespace slipstick
