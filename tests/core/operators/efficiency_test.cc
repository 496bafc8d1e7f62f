#include "core/operators/efficiency.h"

#include <gtest/gtest.h>

#include "core/operators/gemm.h"
#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

// A device known by its data sheet alone, with the given peak rate and memory bandwidth.
Device Unmeasured(Architecture architecture, FlopsPerSecond rate, BytesPerSecond bandwidth) {
  Device device = H100();
  device.architecture = architecture;
  device.efficiency = {};
  device.assumed = {};
  device.peak = {};
  device.tdp = 700 * kWatt;
  device.peak.bf16 = rate;
  device.memory.bandwidth = bandwidth;
  CompleteEfficiency(device);
  return device;
}

// A higher rate in one format, or faster units, never slow a product.
TEST(Efficiency, NoRateOfAGeForceCardSlowsAnother) {
  Device card = Unmeasured(Architecture("ada"), 165 * kTFlops, 1000 * kGBps);
  card.peak.fp16 = card.peak.bf16;
  card.peak.fp8 = card.peak.fp16_accumulate = 330 * kTFlops;
  for (std::optional<FlopsPerSecond> PeakRates::* rate :
       {&PeakRates::bf16, &PeakRates::fp16, &PeakRates::fp8, &PeakRates::fp16_accumulate}) {
    for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kFp8}) {
      Gemm gemm;
      gemm.m = gemm.n = gemm.k = 8192;
      gemm.precision = gemm.weights = precision;
      Seconds before = 1 * kS;
      for (double factor = 0.5; factor < 4; factor *= 1.1) {
        Device other = card;
        other.peak.*rate = factor * *(card.peak.*rate);
        CompleteEfficiency(other);
        const Seconds time = TimeOf(gemm, other, TrainingKernelParameters(gemm, other)).time;
        EXPECT_LE(time.base(), before.base() * (1 + 1e-9)) << NameOf(precision) << " " << factor;
        before = time;
      }
    }
  }
}

// The data-sheet rules have classes by watts per TFLOP/s and by bandwidth: across a class boundary a better device is
// not slower.
TEST(Efficiency, NeverFallsFasterThanTheRatesOfAnUnmeasuredDeviceGrow) {
  for (const Architecture architecture :
       {Architecture("ampere"), Architecture("hopper"), Architecture("blackwell"), Architecture("tpu")}) {
    for (const double size : {512.0, 8192.0}) {
      Gemm gemm;
      gemm.m = gemm.n = gemm.k = size;
      Gemm thin = gemm;
      thin.m = 1;
      Seconds alone = 1 * kS, training = 1 * kS, streaming = 1 * kS;
      for (double step = 1; step < 100; step *= 1.01) {
        const Device faster = Unmeasured(architecture, step * 100 * kTFlops, 3000 * kGBps);
        const Device wider = Unmeasured(architecture, 1000 * kTFlops, step * 300 * kGBps);
        const Seconds next_alone = TimeOf(gemm, faster, IsolatedKernelParameters(gemm, faster)).time;
        const Seconds next_training = TimeOf(gemm, faster, TrainingKernelParameters(gemm, faster)).time;
        const Seconds next_streaming = TimeOf(thin, wider, IsolatedKernelParameters(thin, wider)).time;
        EXPECT_LE(next_alone.base(), alone.base() * (1 + 1e-9)) << step;
        EXPECT_LE(next_training.base(), training.base() * (1 + 1e-9)) << step;
        EXPECT_LE(next_streaming.base(), streaming.base() * (1 + 1e-9)) << step;
        alone = next_alone, training = next_training, streaming = next_streaming;
      }
    }
  }
}

}  // namespace
}  // namespace slipstick
