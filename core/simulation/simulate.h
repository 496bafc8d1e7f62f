// Serving of a load, simulated request by request. The closed forms of core/serving give means of a steady state; this
// gives their spread, and loads that have none. It stands beside them and changes none of them.
#pragma once

#include <optional>
#include <string>

#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/simulation/summary.h"
#include "core/workload/model.h"

namespace slipstick {

struct SimulationAnswer {
  std::optional<SimulatedServing> served;
  std::string warning;  // why it is not there, or what it does not show
};

// For a load with `simulate`. Pools are not simulated.
SimulationAnswer Simulate(const Model& model, const Cluster& cluster, const ServingLoad& load);

}  // namespace slipstick
