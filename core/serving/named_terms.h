// Where serving meets the trace: deployments get the nodes by which it knows the inputs, and figures of the report get
// their paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/engine_step/named_terms.h"
#include "core/engine_step/step.h"
#include "core/operators/time_by_bound.h"

namespace slipstick {

inline constexpr std::string_view kPrefillPool = "prefill_pool";  // scope of its figures

// What a trace knows of a deployment whose numbers have nodes.
struct ExplainedDeployment {
  Trace& trace;
  const Deployment& plain;  // without nodes
  std::string scope;        // of its figures, in the one of serving
};

// The same without nodes, for searches inside a formula.
inline const Deployment& PlainOf(const Deployment& deployment) {
  return deployment.explained == nullptr ? deployment : deployment.explained->plain;
}
template <int... E>
Quantity<E...> PlainOf(Quantity<E...> value) {
  return Quantity<E...>::FromBase(value.base());
}

// A model on its devices; while a trace is on, with a copy whose numbers have nodes.
class NamedDeployment {
 public:
  NamedDeployment(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace);
  // A pool for prefill, which may have a device and a mapping of its own.
  NamedDeployment(const Cluster& cluster, const ServingLoad& load, const Deployment& decoder);
  NamedDeployment(const NamedDeployment&) = delete;
  NamedDeployment& operator=(const NamedDeployment&) = delete;

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
  // `degrees`: path of the mapping.
  void Bind(Trace& trace, const std::string& scope, const std::string& degrees);

  Deployment plain_;
  // While a trace is on.
  std::optional<BoundDeployment> bound_;
  std::optional<ExplainedDeployment> explained_;
};

namespace internal {
template <class F>
auto WithTrace(const Deployment& deployment, const F& call) {
  if (deployment.explained == nullptr) {
    Trace off = Trace::Off();
    return call(off, deployment);
  }
  const ExplainedDeployment& explained = *deployment.explained;
  const Trace::Scope scope(explained.trace, explained.scope);
  return call(explained.trace, explained.plain);
}
}  // namespace internal

// The value with the node of an input: of a flag or a choice that it stands for, or of a device.
template <int... E>
Quantity<E...> InputAt(std::string_view path, Quantity<E...> value, const Deployment& deployment) {
  if (deployment.explained == nullptr) return value;
  return internal::WithTrace(deployment, [&](Trace& trace, const Deployment&) {
    return Quantity<E...>::FromBase(value.base(), trace.InputNode(std::string(path), value.base(), value.kDimension));
  });
}
// A share of times in the report, at the path of their part.
Ratio ShareAt(const std::string& path, Ratio share, const Deployment& deployment);
// Records what the report shows at a path, and returns it.
template <int... E>
Quantity<E...> ShownAt(std::string_view path, Quantity<E...> value, const Deployment& deployment) {
  if (deployment.explained != nullptr) deployment.explained->trace.Report(path, value);
  return value;
}
// Usable memory of a device.
Bytes UsableMemory(const Deployment& deployment);
// Of a pool for prefill to the one for decode: every rank sends its own part.
Seconds HandOverTime(Bytes kv_cache, const Deployment& deployment);

// What the operators of a pass do, and what a device does.
struct PassWork {
  Flops flops;
  Bytes bytes;
  FlopsPerSecond peak_rate;
  BytesPerSecond bandwidth;
  Watts idle, tdp;
};
PassWork WorkOf(const OperatorBreakdown& operators, Phase phase, const Deployment& deployment);
// On a pool for prefill, which may have a device of its own.
PassWork WorkOfPrefillPool(const OperatorBreakdown& operators, const Deployment& deployment);

// A time by what bounds its operators, at the paths below `report`.
TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, std::string_view report,
                         const Deployment& deployment);

}  // namespace slipstick
