// A deployment, plus a copy whose numbers have nodes if a report is being explained.
#pragma once

#include <memory>

#include "core/engine_step/bound_deployment.h"
#include "core/serving/served_sessions.h"

namespace slipstick {

class ExplainedDeployment {
 public:
  // If `tape` is null, numbers have no nodes.
  ExplainedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Tape* tape);
  // The deployment of a prefill pool, which may have its own device and mapping.
  ExplainedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder);
  ExplainedDeployment(const ExplainedDeployment&) = delete;
  ExplainedDeployment& operator=(const ExplainedDeployment&) = delete;

  [[nodiscard]] const Deployment& operator*() const { return bound_ ? bound_->deployment : plain_; }
  [[nodiscard]] const Deployment* operator->() const { return &**this; }
  void Share(ServingMemo* memo, CollectiveLog* log) {
    plain_.memo = memo;
    plain_.log = log;
    if (bound_) bound_->deployment.log = log;
  }
  template <class Q>
  void Set(Q Deployment::* member, Q value) {
    plain_.*member = PlainOf(value);
    if (bound_) bound_->deployment.*member = value;
  }
  // Sets the hits in the deployment's own load, with nodes.
  void Explain(const SettledHits& hits);

 private:
  Deployment plain_;
  std::unique_ptr<BoundDeployment> bound_;  // on the heap: it is large
};

}  // namespace slipstick
