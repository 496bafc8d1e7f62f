#include "core/engine_step/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/collectives/named_terms.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

Model WithNodes(Model model, Trace& trace) {
  BindInputs(model, "model", trace);
  return model;
}

std::vector<FabricConstants> FabricsOf(const Cluster& cluster, Trace& trace) {
  std::vector<FabricConstants> fabrics;
  for (const NetworkLevel& level : cluster.networks) fabrics.push_back(Named(*level.fabric, trace));
  return fabrics;
}

// Its device stays as it is: rules compare its family.
Cluster ClusterOn(Cluster cluster, const std::vector<FabricConstants>& fabrics, Trace& trace) {
  BindInputs(cluster.networks, "cluster.networks", trace);
  BindInputs(cluster.devices, "cluster.devices", trace);
  for (std::size_t i = 0; i < fabrics.size(); ++i) cluster.networks[i].fabric = Fabric(fabrics[i]);
  return cluster;
}

Device WithNodes(const Device& device, Trace& trace) {
  Device bound = Named(device, trace);
  BindInputs(bound.host, "cluster.device.host", trace);
  BindInputs(bound.idle, "cluster.device.idle", trace);
  return bound;
}

ServingLoad WithNodes(ServingLoad load, const std::string& degrees, Trace& trace) {
  if (!load.mapping.replicas) load.mapping.replicas = 1;
  BindInputs(load, "serving", trace);
  BindInputs(load.mapping, degrees, trace);
  return load;
}

}  // namespace

BoundDeployment::BoundDeployment(const Deployment& plain, const std::string& degrees, Trace& trace)
    : model(WithNodes(plain.model, trace)),
      fabrics(FabricsOf(plain.cluster, trace)),
      cluster(ClusterOn(plain.cluster, fabrics, trace)),
      load(WithNodes(plain.load, degrees, trace)),
      deployment(DeployOn(cluster, WithNodes(plain.device, trace), model, load)) {
  deployment.requested = plain.requested;
}

}  // namespace slipstick
