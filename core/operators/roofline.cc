#include "core/operators/roofline.h"

#include <optional>

#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::optional<FlopsPerSecond> PeakRates::* kPeaks[] = {
    &PeakRates::fp32, &PeakRates::tf32, &PeakRates::bf16, &PeakRates::fp16,           &PeakRates::fp8,
    &PeakRates::int8, &PeakRates::fp4,  &PeakRates::int4, &PeakRates::fp16_accumulate};

// The utilizations replace the device's own achievable fractions.
void SetEfficiency(const Utilizations& utilizations, Device& device) {
  Efficiency& e = device.efficiency;
  const auto instead = [](auto value, Ratio utilization) {
    return Procedure("Efficiency beside the utilizations", value, {InSteps(utilization)}, "which contain it");
  };
  const Ratio all = instead(Ratio(1), utilizations.compute), none = instead(Ratio(0), utilizations.compute);
  e.gemm_efficiency = e.gemm_efficiency_fp8 = e.attention_forward = e.attention_backward = all;
  e.bandwidth_efficiency = e.decode_bandwidth_efficiency = instead(Ratio(1), utilizations.memory);
  e.sustained_clock_derating = none;
  e.rated_power = device.tdp;
  e.launch_latency = instead(Seconds(), utilizations.compute);
  const bool usable = device.assumed.usable;
  device.assumed = {};
  device.assumed.usable = usable;
}

}  // namespace

Cluster AtUtilizations(Cluster cluster, const Utilizations& utilizations) {
  Device& device = cluster.device;
  CompleteEfficiency(device);  // keeps the device's own usable memory
  device.architecture = Architecture("roofline");
  SetEfficiency(utilizations, device);
  const auto scale = [](auto& rate, Ratio utilization) {
    rate = Figure("Rate that every operator reaches", rate * utilization, "roofline");
  };
  for (const auto peak : kPeaks) {
    if (device.peak.*peak) scale(*(device.peak.*peak), utilizations.compute);
  }
  scale(device.memory.bandwidth, utilizations.memory);
  for (Cache& cache : device.caches) {
    if (cache.bandwidth) scale(*cache.bandwidth, utilizations.memory);
  }
  for (NetworkLevel& level : cluster.networks) scale(level.bandwidth, utilizations.network);
  if (!cluster.collectives.library) cluster.collectives.library = CollectiveLibrary::kAlphaBeta;
  return cluster;
}

}  // namespace slipstick
