// The engines of a deployment for the event loop: rules, memory and step times.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/event_loop.h"
#include "core/simulation/step_times.h"
#include "core/workload/model.h"

namespace slipstick {

class SimulatedDeployment {
 public:
  // All arguments must outlive it.
  SimulatedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load);
  SimulatedDeployment(const SimulatedDeployment&) = delete;
  SimulatedDeployment& operator=(const SimulatedDeployment&) = delete;

  [[nodiscard]] const Deployment& deployment() const { return deployment_; }
  [[nodiscard]] const KvCacheBudget& budget() const { return budget_; }
  [[nodiscard]] const SimulatedSystem& system() const { return system_; }
  // Keeps idle contexts of sessions, or prompt blocks of `block` tokens, in the memory that running requests leave. A
  // block takes as many bytes as one of a typical prompt.
  void KeepContexts();
  void KeepBlocks(Count tokens, Count typical_prompt);

 private:
  Deployment deployment_;
  KvCacheBudget budget_;
  StepTimes times_;
  SimulatedSystem system_;
};

}  // namespace slipstick
