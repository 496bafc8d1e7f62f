#include "core/serving/explained_deployment.h"

#include "core/base/figure.h"

namespace slipstick {

ExplainedDeployment::ExplainedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load,
                                         Tape* tape)
    : plain_(Deploy(model, cluster, load)) {
  if (tape != nullptr)
    bound_ = std::make_unique<BoundDeployment>(plain_, DeploymentPaths{"cluster.device", "serving.mapping", ""}, *tape);
}

ExplainedDeployment::ExplainedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder)
    : plain_(Deploy(PlainOf(decoder).model, cluster, load)) {
  if (decoder.nodes == nullptr) return;
  const Disaggregated& pools = *load.disaggregated;
  const DeploymentPaths paths{
      pools.prefill_device ? "serving.disaggregated.prefill_device" : "cluster.device",
      pools.prefill_mapping ? "serving.disaggregated.prefill_mapping" : "serving.mapping",
      pools.prefill_networks.empty() ? "" : "clusters.single-" + pools.prefill_device->preset + ".networks"};
  bound_ = std::make_unique<BoundDeployment>(plain_, paths, *decoder.nodes->tape);
  bound_->load.prefix_hit = decoder.load.prefix_hit;  // sessions settle it, so it is not an input
}

void ExplainedDeployment::Explain(const SettledHits& hits) {
  if (!bound_) return;
  ServingLoad& load = bound_->load;
  load.prefix_hit = Exactly(plain_.load.prefix_hit, hits.hit_rate);
  if (!load.prefix_cache) return;
  load.prefix_cache->host_share = Exactly(plain_.load.prefix_cache->host_share, hits.host_share);
  load.prefix_cache->ssd_share = Exactly(plain_.load.prefix_cache->ssd_share, hits.ssd_share);
}

}  // namespace slipstick
