// Power and energy per output token of the serving devices.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_report.h"

namespace slipstick {

// Device time and energy per output token of all `devices`.
PoolUse UseOf(const Deployment& deployment, const ServingPerformance& performance, Ratio devices);
// Device time and energy per output token, of each of the two pools.
ByPass<PoolUse> UseOfPools(const Deployment& deployment, const ServingPerformance& performance);

}  // namespace slipstick
