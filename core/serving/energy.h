// Power of the devices that serve, and their energy per output token.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_report.h"

namespace slipstick {

// Sets the report's device time and energy per output token, and those of each of two pools. `devices`: all of them.
void SetEnergy(const Deployment& deployment, const ServingPerformance& performance, double devices,
               ServingReport& report, Trace& trace);

}  // namespace slipstick
