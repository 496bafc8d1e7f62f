// A deployment, and while a report is explained a copy whose numbers have nodes.
#pragma once

#include <memory>

#include "core/engine_step/bound_deployment.h"

namespace slipstick {

class ExplainedDeployment {
 public:
  // `tape`: null: numbers have no nodes.
  ExplainedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Tape* tape);
  // A pool for prefill, which may have a device and a mapping of its own.
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
  // The hit rate that sessions settle at, and the shares of the tiers: in the load that they were set in, with nodes.
  struct SettledHits {
    Ratio hit_rate, host_share, ssd_share;
  };
  void Explain(const SettledHits& hits);

 private:
  Deployment plain_;
  std::unique_ptr<BoundDeployment> bound_;  // on the heap: it is large
};

}  // namespace slipstick
