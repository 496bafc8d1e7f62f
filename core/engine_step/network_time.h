// The communication of a pass by the network level that each operator waits for.
#pragma once

#include <vector>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// `network`: the part of the pass that is bound by communication, split as the times of its operators.
std::vector<NetworkLevelTime> NetworkTimeByLevel(const Deployment& deployment, const OperatorBreakdown& operators,
                                                 Seconds network);

}  // namespace slipstick
