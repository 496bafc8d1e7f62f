#include "core/serving/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {

using internal::WithTrace;

Bytes UsableMemory(const Deployment& deployment) {
  return InputAt("cluster.device.memory.usable", UsableMemory(deployment.device), deployment);
}

Seconds HandOverTime(Bytes kv_cache, const Deployment& deployment) {
  const Route& route = deployment.network.hand_over;
  const StepTable& step = deployment.device.architecture->step;
  const Seconds time =
      Figure("KV-cache transfer to the decode pool", step.send_launch + kv_cache / (step.send_efficiency * route.link),
             "every rank sends its own part; estimate");
  return OverFurtherWires(time, route);
}

namespace {

PassWork WorkOn(const Device& device, const OperatorBreakdown& operators, const Deployment& plain, Trace& trace) {
  const auto input = [&trace](const std::string& path, auto value) {
    BindInputs(value, "cluster.device." + path, trace);
    return value;
  };
  PassWork work;
  work.flops = operators.FlopsOf();
  work.bytes = operators.BytesOf();
  work.peak_rate = PeakRate(Named(device, trace), plain.formats.activations);
  work.bandwidth = input("memory.bandwidth", device.memory.bandwidth);
  work.idle = input("idle", device.idle);
  work.tdp = input("tdp", device.tdp);
  return work;
}

}  // namespace

PassWork WorkOf(const OperatorBreakdown& operators, Phase phase, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope scope(trace, phase == Phase::kDecode ? "decode" : "prefill");
    return WorkOn(plain.requested->device, operators, plain, trace);
  });
}

PassWork WorkOfPrefillPool(const OperatorBreakdown& operators, const Deployment& deployment) {
  return WithTrace(deployment, [&](Trace& trace, const Deployment& plain) {
    const Trace::Scope pool(trace, kPrefillPool), scope(trace, "prefill");
    const std::optional<Device>& own = plain.load.disaggregated->prefill_device;
    return WorkOn(own ? *own : plain.requested->device, operators, plain, trace);
  });
}

TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, std::string_view report,
                         const Deployment& deployment) {
  return WithTrace(deployment,
                   [&](Trace& trace, const Deployment&) { return SplitByBound(total, operators, {}, report, trace); });
}

Ratio ShareAt(const std::string& path, Ratio share, const Deployment& deployment) {
  if (deployment.explained == nullptr) return share;
  Tape& tape = deployment.explained->trace.tape();
  return Ratio::FromBase(share, tape.Constant(path + "_share", share, Ratio::kDimension, "Share of the operators",
                                              "of this kind, by their times in the report"));
}

}  // namespace slipstick
