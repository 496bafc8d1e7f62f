// Device power rises from idle to TDP with the utilization of the device.
#include "core/serving/energy.h"

#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Work of the operators of a pass, and the limits of a device.
struct PassWork {
  Flops flops;
  Bytes bytes;
  FlopsPerSecond peak_rate;
  BytesPerSecond bandwidth;
  Watts idle, tdp;
};
PassWork WorkOn(const Device& device, const OperatorBreakdown& operators, Precision activations) {
  return {operators.FlopsOf(),     operators.BytesOf(), PeakRate(device, activations),
          device.memory.bandwidth, device.idle,         device.tdp};
}
PassWork WorkOf(const PassCost& pass, const Deployment& deployment) {
  return WorkOn(deployment.requested->device, pass.operators, deployment.formats.activations);
}

// Compute or memory utilization of a pass, whichever is higher.
Ratio ActivityOf(const PassWork& work, Seconds pass_time) {
  return Figure("Utilization of the device",
                min(1.0, max(work.flops / (work.peak_rate * pass_time), work.bytes / (work.bandwidth * pass_time))),
                "of its peak or of its memory bandwidth, the higher");
}

// Use of a pool whose devices have the mean utilization `active` over all time.
PoolUse UseAt(Ratio active, const PassWork& device, Ratio devices, TokensPerSecond rate) {
  const Watts power = Figure("Power per device of the pool", device.idle + (device.tdp - device.idle) * active,
                             "between idle and TDP, by compute or memory utilization; without the rest of the server");
  return {Figure("Device time of the pool per output token", devices / rate),
          Figure("Energy per output token, devices of the pool", devices * power / rate)};
}

PoolUse PrefillUse(const Deployment& deployment, const ServingPerformance& performance) {
  const PassCost& pass = performance.prefill.alone;
  const std::optional<Device>& own = deployment.load.disaggregated->prefill_device;
  const PassWork work =
      WorkOn(own ? *own : deployment.requested->device, pass.operators, deployment.formats.activations);
  const Ratio output(deployment.load.output);
  const Ratio busy = Figure("Share of the time in which the prefill pool computes",
                            min(1.0, performance.rate / (output * (1 * kToken) * performance.prefill_capacity)),
                            "the request rate over its capacity");
  const Ratio active = Figure("Utilization of the device over all the time", ActivityOf(work, pass.time) * busy);
  return UseAt(active, work, deployment.load.disaggregated->prefill_devices, performance.rate);
}

// The decode pool never pauses between steps while a sequence runs, so it has the utilization of a step.
PoolUse DecodeUse(const Deployment& deployment, const ServingPerformance& performance) {
  const PassCost& step = performance.decode.step;
  const PassWork work = WorkOf(step, deployment);
  return UseAt(ActivityOf(work, step.time), work, deployment.load.disaggregated->decode_devices, performance.rate);
}

}  // namespace

ByPass<PoolUse> UseOfPools(const Deployment& deployment, const ServingPerformance& performance) {
  return {PrefillUse(deployment, performance), DecodeUse(deployment, performance)};
}

PoolUse UseOf(const Deployment& deployment, const ServingPerformance& performance, Ratio devices) {
  const PassCost &step = performance.decode.step, &pass = performance.prefill.alone;
  const Ratio decode_activity = ActivityOf(WorkOf(step, deployment), step.time),
              prefill_activity = ActivityOf(WorkOf(pass, deployment), pass.time);
  const Seconds decoding =
      Figure("Decoding of a group's sequences", Ratio(deployment.load.output) * performance.decode.token);
  const Seconds prefilling = Figure("Prefill of a group's sequences", performance.running * performance.prefill.shared);
  const Watts idle = deployment.device.idle, tdp = deployment.device.tdp;
  const Watts power = Figure(
      "Power per device",
      idle + (tdp - idle) * (decode_activity * decoding + prefill_activity * prefilling) / (decoding + prefilling),
      "between idle and TDP, by compute or memory utilization; without the rest of the server");
  return {Figure("Device time per output token", devices / performance.rate),
          Figure("Energy per output token, devices", devices * power / performance.rate)};
}

}  // namespace slipstick
