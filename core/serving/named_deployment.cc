// A deployment whose numbers have the nodes of what a trace knows them by.
#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/engine_step/named_terms.h"
#include "core/serving/named_terms.h"

namespace slipstick {
namespace {

using internal::WithTrace;

// The pool's device and degrees are those that it states.
Deployment DeployPool(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder) {
  return WithTrace(decoder, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, kPrefillPool);
    const Disaggregated& pools = *load.disaggregated;
    if (pools.prefill_device) BindDevice("serving.disaggregated.prefill_device", trace);
    if (pools.prefill_mapping) BindDegrees(load.mapping, "serving.disaggregated.prefill_mapping", trace);
    return Deploy(plain.model, cluster, load, trace);
  });
}

}  // namespace

NamedDeployment::NamedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace)
    : plain_([&] {
        BindDegrees(load.mapping, "serving.mapping", trace);
        return Deploy(model, cluster, load, trace);
      }()) {
  if (trace.on()) Bind(trace, "");
}

NamedDeployment::NamedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder)
    : plain_(DeployPool(cluster, load, decoder)) {
  if (decoder.explained != nullptr) Bind(decoder.explained->trace, std::string(kPrefillPool));
}

void NamedDeployment::Bind(Trace& trace, const std::string& scope) {
  explained_.emplace(ExplainedDeployment{trace, plain_, scope});
  Deployment& named = plain_.named->deployment;
  named.explained = &*explained_;
  named.trace = &trace;
}

void NamedDeployment::Explain(const SettledHits& hits) {
  if (!explained_) return;
  ServingLoad& load = plain_.named->load;
  load.prefix_hit = Exactly(plain_.load.prefix_hit, hits.hit_rate);
  explained_->trace.Alias("prefix_hit", load.prefix_hit, "the node of prefix_hit");
  explained_->trace.Replace("serving.prefix_hit", load.prefix_hit, "prefix_hit");
  if (!load.prefix_cache) return;
  load.prefix_cache->host_share = Exactly(plain_.load.prefix_cache->host_share, hits.host_share);
  load.prefix_cache->ssd_share = Exactly(plain_.load.prefix_cache->ssd_share, hits.ssd_share);
}

void NameAgain(const Deployment& deployment) {
  if (deployment.explained == nullptr) return;
  WithTrace(deployment, [](Trace& trace, const Deployment& plain) {
    BindDegrees(plain.load.mapping, "serving.mapping", trace);
    return Deploy(plain.model, *plain.requested, plain.load, trace).mapping;
  });
}

}  // namespace slipstick
