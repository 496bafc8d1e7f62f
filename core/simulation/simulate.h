// Serving of a load, simulated request by request. The closed forms of core/serving give means of a steady state; the
// simulation gives distributions, also without a steady state. It does not change figures of the closed forms.
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
  std::string warning;  // why there is no simulation, or what it does not show
};

// For a load with `simulate`. Separate pools are not simulated.
SimulationAnswer Simulate(const Model& model, const Cluster& cluster, const ServingLoad& load);

}  // namespace slipstick
