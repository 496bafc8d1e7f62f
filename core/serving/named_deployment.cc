// A deployment whose numbers have the nodes of what a trace knows them by.
#include "core/base/figure.h"
#include "core/operators/named_terms.h"
#include "core/serving/named_terms.h"

namespace slipstick {
NamedDeployment::NamedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace)
    : plain_(Deploy(model, cluster, load)) {
  if (trace.on()) Bind(trace, "", "serving.mapping");
}

// The pool's device and degrees are those that it states.
NamedDeployment::NamedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder)
    : plain_(Deploy(PlainOf(decoder).model, cluster, load)) {
  if (decoder.explained == nullptr) return;
  Trace& trace = decoder.explained->trace;
  const Disaggregated& pools = *load.disaggregated;
  const Trace::Scope scope(trace, kPrefillPool);
  if (pools.prefill_device) trace.Input("cluster.device", 0, "serving.disaggregated.prefill_device");
  Bind(trace, std::string(kPrefillPool),
       pools.prefill_mapping ? "serving.disaggregated.prefill_mapping" : "serving.mapping");
}

void NamedDeployment::Bind(Trace& trace, const std::string& scope, const std::string& degrees) {
  const std::optional<Utilizations>& utilization = plain_.engine.utilization;
  if (utilization) ReplaceByUtilizations(*plain_.requested, *utilization, "serving.engine.utilization", trace);
  bound_.emplace(plain_, degrees, trace);
  bound_->deployment.explained = &explained_.emplace(ExplainedDeployment{trace, plain_, scope});
}

void NamedDeployment::Explain(const SettledHits& hits) {
  if (!bound_) return;
  ServingLoad& load = bound_->load;
  load.prefix_hit = Exactly(plain_.load.prefix_hit, hits.hit_rate);
  explained_->trace.Alias("prefix_hit", load.prefix_hit, "the node of prefix_hit");
  explained_->trace.Replace("serving.prefix_hit", load.prefix_hit, "prefix_hit");
  if (!load.prefix_cache) return;
  load.prefix_cache->host_share = Exactly(plain_.load.prefix_cache->host_share, hits.host_share);
  load.prefix_cache->ssd_share = Exactly(plain_.load.prefix_cache->ssd_share, hits.ssd_share);
}

}  // namespace slipstick
