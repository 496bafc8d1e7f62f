#include "core/operators/roofline.h"

#include <optional>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::optional<FlopsPerSecond> PeakRates::* kPeaks[] = {
    &PeakRates::fp32, &PeakRates::tf32, &PeakRates::bf16, &PeakRates::fp16,           &PeakRates::fp8,
    &PeakRates::int8, &PeakRates::fp4,  &PeakRates::int4, &PeakRates::fp16_accumulate};

// What the device would reach by itself gives way to the utilizations.
void SetEfficiency(Device& device) {
  Efficiency& e = device.efficiency;
  e.gemm_efficiency = e.gemm_efficiency_fp8 = e.bandwidth_efficiency = e.decode_bandwidth_efficiency = 1;
  e.attention_forward = e.attention_backward = 1;
  e.clock_derating = e.sustained_clock_derating = 0;
  e.rated_power = device.tdp;
  e.launch_latency = Seconds{};
  const bool usable = device.assumed.usable;
  device.assumed = {};
  device.assumed.usable = usable;
}

}  // namespace

Cluster AtUtilizations(Cluster cluster, const Utilizations& utilizations) {
  Device& device = cluster.device;
  CompleteEfficiency(device);  // the memory that a program can allocate is the device's own
  device.architecture = Architecture("roofline");
  SetEfficiency(device);
  for (const auto peak : kPeaks) {
    if (device.peak.*peak) *(device.peak.*peak) *= utilizations.compute;
  }
  device.memory.bandwidth *= utilizations.memory;
  for (Cache& cache : device.caches) {
    if (cache.bandwidth) *cache.bandwidth *= utilizations.memory;
  }
  for (NetworkLevel& level : cluster.networks) level.bandwidth *= utilizations.network;
  if (!cluster.collectives.library) cluster.collectives.library = CollectiveLibrary::kAlphaBeta;
  return cluster;
}

}  // namespace slipstick
