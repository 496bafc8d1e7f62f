// Deployments whose numbers have the nodes of what a trace knows them by.
#pragma once

#include <string>
#include <vector>

#include "core/base/trace.h"
#include "core/collectives/fabric.h"
#include "core/engine_step/deployment.h"

namespace slipstick {

// A deployment, and what its numbers with nodes rest on.
struct BoundDeployment {
  // `degrees`: path of the mapping. The device is the one that the current scope names.
  BoundDeployment(const Deployment& plain, const std::string& degrees, Trace& trace);
  BoundDeployment(const BoundDeployment&) = delete;
  BoundDeployment& operator=(const BoundDeployment&) = delete;
  Model model;
  std::vector<FabricConstants> fabrics;  // of the cluster's networks
  Cluster cluster;
  ServingLoad load;
  Deployment deployment;
};

}  // namespace slipstick
