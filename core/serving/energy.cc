#include "core/serving/energy.h"

#include "core/base/figure.h"
#include "core/operators/device_power.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

Watts PowerOf(const PassCost& pass, const Device& device, const Deployment& deployment) {
  return PowerAtWork(device, {pass.operators.FlopsOf(), pass.operators.BytesOf(),
                              PeakRate(device, deployment.formats.activations), pass.time});
}

// Use of a pool whose devices draw `power` in the mean of all time.
PoolUse UseAt(Watts power, Ratio devices, TokensPerSecond rate) {
  return {Figure("Device time of the pool per output token", devices / rate),
          Figure("Energy per output token, devices of the pool", devices * power / rate)};
}

PoolUse PrefillUse(const Deployment& deployment, const ServingPerformance& performance) {
  const PassCost& pass = performance.prefill.alone;
  const std::optional<Device>& own = deployment.load.disaggregated->prefill_device;
  const Device& device = own ? *own : deployment.requested->device;
  const Ratio output(deployment.load.output);
  const Ratio busy = Figure("Share of the time in which the prefill pool computes",
                            min(1.0, performance.rate / (output * (1 * kToken) * performance.prefill_capacity)),
                            "the request rate over its capacity");
  const Watts power =
      Figure("Power per device of the pool", busy * PowerOf(pass, device, deployment) + (1 - busy) * device.idle,
             "idle power while it waits; without the rest of the server");
  return UseAt(power, deployment.load.disaggregated->prefill_devices, performance.rate);
}

// The decode pool never pauses between steps while a sequence runs, so it draws the power of a step.
PoolUse DecodeUse(const Deployment& deployment, const ServingPerformance& performance) {
  return UseAt(PowerOf(performance.decode.step, deployment.requested->device, deployment),
               deployment.load.disaggregated->decode_devices, performance.rate);
}

}  // namespace

ByPass<PoolUse> UseOfPools(const Deployment& deployment, const ServingPerformance& performance) {
  return {PrefillUse(deployment, performance), DecodeUse(deployment, performance)};
}

PoolUse UseOf(const Deployment& deployment, const ServingPerformance& performance, Ratio devices) {
  const Device& device = deployment.requested->device;
  const Watts in_decode = PowerOf(performance.decode.step, device, deployment),
              in_prefill = PowerOf(performance.prefill.alone, device, deployment);
  const Seconds decoding =
      Figure("Decoding of a group's sequences", Ratio(deployment.load.output) * performance.decode.token);
  const Seconds prefilling = Figure("Prefill of a group's sequences", performance.running * performance.prefill.shared);
  const Watts power =
      Figure("Power per device", (in_decode * decoding + in_prefill * prefilling) / (decoding + prefilling),
             "of decoding and prefill, by their times; without the rest of the server");
  return {Figure("Device time per output token", devices / performance.rate),
          Figure("Energy per output token, devices", devices * power / performance.rate)};
}

}  // namespace slipstick
