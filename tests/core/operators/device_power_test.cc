// Power of a busy device: between half of its TDP and all of it.
#include "core/operators/device_power.h"

#include <gtest/gtest.h>

#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

const FlopsPerSecond kPeak = 989 * kTFlops;

Watts PowerAt(const Device& device, double peak_share, double bandwidth_share) {
  const Seconds second = 1000 * kMs;
  return PowerAtWork(device,
                     {peak_share * kPeak * second, bandwidth_share * device.memory.bandwidth * second, kPeak, second});
}

// H100 SXM, 700 W: waiting kernels draw 350 W. A tenth of the peak and four tenths of the bandwidth draw half of the
// rest.
TEST(DevicePower, RisesFromHalfTheTdpWithTheUseOfUnitsAndMemory) {
  const Device h100 = H100();
  EXPECT_NEAR(In(PowerAt(h100, 0, 0), kWatt), 350, 1e-9);
  EXPECT_NEAR(In(PowerAt(h100, 0.1, 0.4), kWatt), 525, 1e-9);
  EXPECT_NEAR(In(PowerAt(h100, 0.8, 0.7), kWatt), 700, 1e-9);
}

TEST(DevicePower, IsNeverBelowIdlePowerNorAboveTheTdp) {
  Device h100 = H100();
  h100.idle = 400 * kWatt;
  EXPECT_NEAR(In(PowerAt(h100, 0, 0), kWatt), 400, 1e-9);
  h100.tdp = 300 * kWatt;
  EXPECT_NEAR(In(PowerAt(h100, 1, 1), kWatt), 300, 1e-9);
}

}  // namespace
}  // namespace slipstick
