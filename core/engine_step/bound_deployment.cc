#include "core/engine_step/bound_deployment.h"

#include <utility>

#include "core/base/bind_inputs.h"
#include "core/collectives/bound_fabric.h"
#include "core/operators/bound_device.h"
#include "core/operators/efficiency.h"
#include "core/operators/roofline.h"

namespace slipstick {
namespace {

Model WithNodes(Model model, Tape& tape) {
  BindInputs(model, "model", &tape);
  return model;
}

ServingLoad WithNodes(ServingLoad load, const std::string& degrees, Tape& tape) {
  if (!load.mapping.replicas) load.mapping.replicas = 1;
  BindInputs(load.mapping, degrees, &tape);
  BindInputs(load, "serving", &tape);
  return load;
}

constexpr std::string_view kServerSource = "the catalogue's server of the prefill pool's device";

Cluster WithNodes(Cluster cluster, const DeploymentPaths& paths, Tape& tape) {
  CompleteEfficiency(cluster.device);
  cluster.device = WithNodes(cluster.device, tape, paths.device);
  if (!paths.networks.empty()) BindConstants(cluster.networks, paths.networks, kServerSource, &tape);
  BindNetworks(cluster.networks, tape);
  BindInputs(cluster.devices, "cluster.devices", &tape);
  return cluster;
}

Cluster ClusterOf(const Cluster& requested, const Engine& engine) {
  return engine.utilization ? AtUtilizations(requested, *engine.utilization) : requested;
}

// `cluster` keeps a device without nodes: an engine's exceptions are found by comparing its architecture.
Device DeviceOf(Cluster& cluster, const Deployment& plain, const DeploymentNodes& nodes) {
  const Device device = std::exchange(cluster.device, plain.cluster.device);
  return WithNodes(device, *nodes.tape, nodes.device);
}

}  // namespace

BoundDeployment::BoundDeployment(const Deployment& plain, const DeploymentPaths& paths, Tape& tape)
    : nodes{&tape, plain, paths.device},
      model(WithNodes(plain.model, tape)),
      load(WithNodes(plain.load, paths.degrees, tape)),
      requested(WithNodes(*plain.requested, paths, tape)),
      cluster(ClusterOf(requested, load.engine)),
      deployment(DeployOn(cluster, DeviceOf(cluster, plain, nodes), model, load, &nodes)) {
  deployment.requested = &requested;
}

}  // namespace slipstick
