// Deployments whose numbers have nodes, for explanations.
#pragma once

#include <string>

#include "core/engine_step/deployment.h"

namespace slipstick {

// Scenario paths of a deployment's device and of its degrees of parallelism.
struct DeploymentPaths {
  std::string device, degrees;
  std::string networks;  // the catalogue's, of a pool with devices of its own; "": the cluster's
};

// A copy of a deployment with nodes, and the data that it refers to.
struct BoundDeployment {
  BoundDeployment(const Deployment& plain, const DeploymentPaths& paths, Tape& tape);
  BoundDeployment(const BoundDeployment&) = delete;
  BoundDeployment& operator=(const BoundDeployment&) = delete;
  DeploymentNodes nodes;
  Model model;
  ServingLoad load;
  Cluster requested;  // as in the request
  Cluster cluster;    // with the engine's utilizations applied
  Deployment deployment;
};

}  // namespace slipstick
